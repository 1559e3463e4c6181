//! The words of a schema one by one, as far as they are sound.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The word under which [`Branches`] wait in a schema until there are properties to stand beside.
pub(crate) const BRANCHES: &str = "branches";

pub(crate) type Object = Map<String, Value>;

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// The schemas under a keyword, and where they are.
pub(crate) fn list<'s>(schema: &'s Object, keyword: &str, place: &str) -> Result<Vec<(String, &'s Value)>, String> {
    match schema.get(keyword) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() => {
            Ok(list.iter().enumerate().map(|(idx, part)| (format!("{place}/{keyword}/{idx}"), part)).collect())
        }
        Some(_) => Err(format!("{} is no list of schemas", shown(&format!("{place}/{keyword}")))),
    }
}

/// Adds what is not there yet.
pub(crate) fn add(to: &mut Object, fields: Object) {
    for (name, value) in fields {
        to.entry(name).or_insert(value);
    }
}

/// Leaves a reference or a choice nothing but its description: next to other words `typify` would merge them, and with
/// what is recursive it would never end.
pub(crate) fn stand_alone(simple: &mut Object) {
    let word = ["properties", "$ref", "oneOf"].into_iter().find(|word| simple.contains_key(*word));
    match word {
        Some("properties") => simple.retain(|name, _| name != "$ref" && name != "oneOf"),
        Some(word) => simple.retain(|name, _| name == "description" || name == word || name == BRANCHES),
        None => {}
    }
}

pub(crate) fn says_nothing(schema: &Value) -> bool {
    schema.as_object().is_none_or(|schema| schema.keys().all(|name| name == "description"))
}

pub(crate) fn types(schema: &Object, place: &str) -> Result<Option<Value>, String> {
    let Some(given) = schema.get("type") else { return Ok(None) };
    let names = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match names.iter().find(|name| !is_type(name)) {
        Some(wrong) => Err(format!("{} has the type {wrong}, which is none", shown(place))),
        None if names.is_empty() => Err(format!("{} has no type in its list", shown(place))),
        None => Ok(Some(given.clone())),
    }
}

/// The texts that are the only ones, where it is texts that are listed.
pub(crate) fn texts(schema: &Object) -> Option<Value> {
    let only = schema.get("const").map(|only| vec![only.clone()]);
    let mut texts = only.or_else(|| schema.get("enum")?.as_array().cloned())?;
    distinct(&mut texts);
    let is_text = texts.iter().all(|text| text.is_string() || text.is_null()) && texts.iter().any(Value::is_string);
    is_text.then(|| texts.into())
}

/// Leaves each value once.
pub(crate) fn distinct(values: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

pub(crate) fn required(schema: &Object, place: &str) -> Result<Vec<Value>, String> {
    match schema.get("required") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => Ok(names.clone()),
        Some(_) => Err(format!("{} is no list of names", shown(&format!("{place}/required")))),
    }
}

pub(crate) fn shown(place: &str) -> String {
    if place.is_empty() { "its root".to_owned() } else { format!("`{}`", place.escape_debug()) }
}
