//! What the built-in validator cannot evaluate: `build` names the feature, and no model is told that its arguments are
//! wrong.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Dispatcher, catalog, prompt, tool};

pub const NAMESPACE: &str = "unsupported";

/// Looks ahead.
#[tool(namespace = "unsupported")]
fn look_ahead(#[schemars(regex(pattern = "^(?!tmp)[a-z]+$"))] name: String) -> String {
    name
}

/// Refers back.
#[tool(namespace = "unsupported")]
fn refer_back(#[schemars(inner(regex(pattern = r"^(a|b)\1$")))] names: Vec<String>) -> usize {
    names.len()
}

#[derive(Default, Deserialize, Serialize, JsonSchema)]
struct Node {
    #[schemars(extend("$dynamicRef" = "#node"))]
    next: Option<String>,
}

/// Refers to what a reader defines.
#[tool(namespace = "unsupported")]
fn dynamic(node: Option<Node>) -> Node {
    node.unwrap_or_default()
}

/// Prompts with what precedes.
#[prompt(namespace = "unsupported")]
fn look_behind(#[schemars(regex(pattern = "(?<=a)b"))] text: String) -> String {
    text
}

/// Has a pattern that no engine compiles.
#[tool(namespace = "unsupported")]
fn broken(#[schemars(extend("pattern" = "^(a$"))] text: String) -> String {
    text
}

/// Returns what is wrong with the errors.
pub fn failures() -> Vec<String> {
    let catalogs: [(&str, Catalog); 4] = [
        ("look_ahead", catalog![look_ahead].expect("one tool")),
        ("refer_back", catalog![refer_back].expect("one tool")),
        ("dynamic", catalog![dynamic].expect("one tool")),
        ("look_behind", catalog![look_behind].expect("one prompt")),
    ];
    let mut failed = Vec::new();
    for (name, catalog) in catalogs {
        match Dispatcher::new(catalog) {
            Ok(_) => failed.push(format!("`{name}` is built")),
            Err(error) if error.to_string().contains("the feature `jsonschema` of `toolkit`") => {}
            Err(error) => failed.push(format!("`{name}` names no feature: {error}")),
        }
    }
    let error = Dispatcher::new(catalog![broken].expect("one tool"))
        .map(|dispatcher| dispatcher.call_sync("broken", r#"{"text": "a"}"#).err().map(|error| error.kind()));
    match error {
        Ok(Some(ErrorKind::Internal)) | Err(_) => {}
        Ok(kind) => failed.push(format!("a broken pattern is {kind:?} to the model")),
    }
    failed
}
