//! Bytes as base64, the form in which models and other programs send them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use data_encoding::{BASE64, BASE64_NOPAD};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Deserializer, Error, Visitor};
use serde::{Deserialize, Serialize, Serializer};

/// Bytes that are a base64 string in JSON, with the schema `{"type": "string", "contentEncoding": "base64"}`.
///
/// A `Vec<u8>` is a list of numbers in JSON, which models do not send and which costs them about four times as many tokens.
///
/// Deserialization accepts the standard and the URL-safe alphabet (RFC 4648), with and without padding. Serialization writes
/// the standard alphabet with padding.
///
/// # Examples
///
/// ```
/// use toolkit_schema::{Base64, Schema};
///
/// let bytes: Base64 = serde_json::from_str(r#""-_8""#)?;
/// assert_eq!(bytes, Base64(vec![0xfb, 0xff]));
/// assert_eq!(serde_json::to_string(&bytes)?, r#""+/8=""#);
///
/// let error = serde_json::from_str::<Base64>(r#""a b""#).unwrap_err();
/// assert!(error.to_string().starts_with("expected base64: invalid symbol at 1"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Base64(pub Vec<u8>);

impl Deref for Base64 {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for Base64 {
    fn from(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }
}

impl Serialize for Base64 {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&BASE64.encode_display(&self.0))
    }
}

impl<'de> Deserialize<'de> for Base64 {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Base64Visitor)
    }
}

struct Base64Visitor;

impl Visitor<'_> for Base64Visitor {
    type Value = Base64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base64")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Base64, E> {
        if text.starts_with("data:") {
            return Err(E::custom("expected base64 alone, without the `data:` of a URL"));
        }
        let data = text.trim_end_matches('=');
        let n_padding = text.len() - data.len();
        if n_padding > 2 || (n_padding > 0 && !text.len().is_multiple_of(4)) {
            return Err(E::custom("expected base64: wrong padding"));
        }
        let standard: Vec<u8> = data.bytes().map(in_standard_alphabet).collect();
        BASE64_NOPAD.decode(&standard).map(Base64).map_err(|error| E::custom(format_args!("expected base64: {error}")))
    }
}

fn in_standard_alphabet(byte: u8) -> u8 {
    match byte {
        b'-' => b'+',
        b'_' => b'/',
        other => other,
    }
}

impl JsonSchema for Base64 {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Base64".into()
    }

    fn schema_id() -> Cow<'static, str> {
        "toolkit::Base64".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "contentEncoding": "base64" })
    }
}
