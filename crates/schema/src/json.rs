//! Parsing of JSON text to a tree, with an error for duplicate keys.
//!
//! `serde_json` keeps the last of several equal keys. Two parsers that keep different ones disagree about what was
//! validated and what was executed, so duplicate keys are rejected.

use std::collections::HashSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;

use super::plan::read_tree;

/// Parses JSON text.
///
/// # Errors
///
/// Returns a message with the position of a syntax error, the duplicate key, or the nesting limit.
pub fn parse(text: &[u8]) -> Result<Value, String> {
    read_tree(text, &mut |_| {}).map_err(|_| syntax_error(text))
}

/// Returns a message that explains why a text cannot be parsed.
#[cold]
pub(crate) fn syntax_error(text: &[u8]) -> String {
    if text.trim_ascii().is_empty() {
        return "not valid JSON: the text is empty; use `{}` for an empty object".to_owned();
    }
    if text.starts_with(b"\xEF\xBB\xBF") {
        return "not valid JSON: it starts with a byte order mark".to_owned();
    }
    let Err(error) = serde_json::from_slice::<Checked>(text) else {
        // `serde_json` may be compiled to accept numbers of any size.
        return "not valid JSON: number out of range".to_owned();
    };
    let error = error.to_string();
    match error.strip_prefix("recursion limit exceeded") {
        Some(place) => format!("the JSON is nested deeper than 127 levels{place}"),
        None => format!("not valid JSON: {error}"),
    }
}

/// The maximum depth that the parser accepts.
const MAX_DEPTH: usize = 127;

/// Returns true if a tree is nested deeper than the parser accepts.
#[doc(hidden)]
pub fn is_too_deep(value: &Value) -> bool {
    is_too_deep_below(value, 0)
}

/// Returns true if a tree is nested deeper than the parser accepts when `n_levels` others contain it.
#[doc(hidden)]
pub fn is_too_deep_below(value: &Value, n_levels: usize) -> bool {
    fn exceeds(value: &Value, levels: usize) -> bool {
        match value {
            Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
            Value::Object(object) => levels == 0 || object.values().any(|value| exceeds(value, levels - 1)),
            _ => false,
        }
    }
    MAX_DEPTH.checked_sub(n_levels).is_none_or(|levels| exceeds(value, levels))
}

/// JSON without duplicate keys.
struct Checked;

impl<'de> Deserialize<'de> for Checked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Checked)
    }
}

impl<'de> Visitor<'de> for Checked {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Checked>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = entries.next_key::<String>()? {
            if keys.contains(&key) {
                return Err(twice(&key));
            }
            keys.insert(key);
            entries.next_value::<Checked>()?;
        }
        Ok(self)
    }
}

#[cold]
fn twice<E: Error>(key: &str) -> E {
    let key: String = key.chars().take(60).collect();
    E::custom(format_args!("duplicate key `{}` in an object", key.escape_debug()))
}
