//! JSON text as a tree, refusing an object that has the same key twice.
//!
//! `serde_json` keeps the last of two equal keys. Two readers that keep different ones disagree about what was
//! checked and what was run, so neither is kept here.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::map::Entry;
use serde_json::{Map, Number, Value};

/// Parses JSON text.
///
/// # Errors
///
/// One sentence: where the text stops being JSON, which key stands twice, or that it is nested too deep.
pub(crate) fn parse(text: &[u8]) -> Result<Value, String> {
    if text.trim_ascii().is_empty() {
        return Err("not valid JSON: it is empty; an object without keys is `{}`".to_owned());
    }
    if text.starts_with(b"\xEF\xBB\xBF") {
        return Err("not valid JSON: it starts with a byte order mark".to_owned());
    }
    serde_json::from_slice::<Tree>(text).map(|tree| tree.0).map_err(|error| {
        let error = error.to_string();
        match error.strip_prefix("recursion limit exceeded") {
            Some(place) => format!("the JSON is nested deeper than 127 levels{place}"),
            None => format!("not valid JSON: {error}"),
        }
    })
}

/// Writes every number without a fraction as an integer, as far as 64 bits go; says whether there was one.
pub(crate) fn write_whole_numbers_as_integers(value: &mut Value) -> bool {
    /// Up to here every integer is a float too.
    const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

    match value {
        Value::Number(number) if number.is_f64() => {
            let whole = number.as_f64().filter(|float| float.fract() == 0.0 && float.abs() <= MAX_EXACT);
            whole.inspect(|float| *value = Value::from(*float as i64)).is_some()
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| write_whole_numbers_as_integers(item) | any),
        Value::Object(object) => {
            object.values_mut().fold(false, |any, value| write_whole_numbers_as_integers(value) | any)
        }
        _ => false,
    }
}

/// How deep the parser follows lists and objects.
const MAX_DEPTH: usize = 127;

/// Whether a tree that somebody else made is nested deeper than the parser would follow.
pub(crate) fn is_too_deep(value: &Value) -> bool {
    fn exceeds(value: &Value, levels: usize) -> bool {
        match value {
            Value::Array(items) => levels == 0 || items.iter().any(|item| exceeds(item, levels - 1)),
            Value::Object(object) => levels == 0 || object.values().any(|value| exceeds(value, levels - 1)),
            _ => false,
        }
    }
    exceeds(value, MAX_DEPTH)
}

struct Tree(Value);

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor).map(Tree)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        while let Some(Tree(item)) = items.next_element()? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            match object.entry(key) {
                Entry::Vacant(slot) => {
                    let Tree(value) = entries.next_value()?;
                    slot.insert(value);
                }
                Entry::Occupied(slot) => return Err(twice(slot.key())),
            }
        }
        Ok(Value::Object(object))
    }
}

#[cold]
fn twice<E: Error>(key: &str) -> E {
    let key: String = key.chars().take(60).collect();
    E::custom(format_args!("the key `{}` stands twice in one object", key.escape_debug()))
}
