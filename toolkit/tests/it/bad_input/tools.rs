//! The tools of these tests.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use toolkit::tool;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Node {
    pub name: String,
    #[serde(default)]
    pub children: Vec<Node>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind")]
pub enum Shape {
    Circle { radius: f64 },
    Square { side: u32 },
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Big {
    pub text: String,
    pub flag: bool,
    pub count: i64,
    pub ratio: f64,
    pub list: Vec<String>,
    pub map: BTreeMap<String, i32>,
    pub node: Option<Node>,
    pub shape: Shape,
    pub pair: (u8, String),
}

/// Takes a lot.
#[tool(namespace = "bad")]
pub fn big(big: Big) -> usize {
    big.text.len()
}

/// Takes anything.
#[tool(namespace = "bad")]
pub fn anything(#[arg] value: Value) -> bool {
    value.is_null()
}

/// Counts.
#[tool(namespace = "bad")]
pub fn length(text: String) -> usize {
    text.len()
}

/// A word that only this tool knows.
#[derive(JsonSchema)]
#[schemars(transparent)]
pub struct Token(pub String);

impl<'de> Deserialize<'de> for Token {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.starts_with("tok-") {
            return Ok(Self(text));
        }
        Err(serde::de::Error::custom(format!("the token {text} is not one")))
    }
}

#[derive(Deserialize, JsonSchema)]
pub struct Credentials {
    #[schemars(extend("writeOnly" = true), length(max = 20))]
    pub password: String,
    #[schemars(extend("writeOnly" = true), range(max = 999))]
    #[serde(default)]
    pub pin: u32,
}

/// Signs in.
#[tool(namespace = "bad")]
pub fn sign_in(
    #[schemars(extend("writeOnly" = true))] token: Token,
    credentials: Option<Credentials>,
    #[serde(default)] mode: String,
) -> Result<String, std::io::Error> {
    let known = token.0.len() + credentials.map_or(0, |known| known.password.len() + known.pin as usize);
    match mode.as_str() {
        "panic" => panic!("an internal matter"),
        "fail" => Err(std::io::Error::other("an internal matter")),
        _ => Ok(known.to_string()),
    }
}
