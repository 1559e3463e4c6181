//! Access to the keywords of a schema, with checks of their values.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// The internal keyword with the properties of branches, until they are merged into an object with properties.
pub(crate) const BRANCHES: &str = "branches";

pub(crate) type Object = Map<String, Value>;

const TYPES: [&str; 7] = ["null", "boolean", "integer", "number", "string", "array", "object"];

/// Returns the schemas in the list of a keyword with their pointers.
pub(crate) fn list<'s>(schema: &'s Object, keyword: &str, place: &str) -> Result<Vec<(String, &'s Value)>, String> {
    match schema.get(keyword) {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) if !list.is_empty() => {
            Ok(list.iter().enumerate().map(|(idx, part)| (format!("{place}/{keyword}/{idx}"), part)).collect())
        }
        Some(_) => Err(format!("{} must be an array of schemas", shown(&format!("{place}/{keyword}")))),
    }
}

/// Adds missing fields.
pub(crate) fn add(to: &mut Object, fields: Object) {
    for (name, value) in fields {
        to.entry(name).or_insert(value);
    }
}

/// Removes the keywords next to a reference or `oneOf` except the description. `typify` would merge them, and would not
/// terminate for recursive schemas.
pub(crate) fn stand_alone(simple: &mut Object) {
    let word = ["properties", "$ref", "oneOf"].into_iter().find(|word| simple.contains_key(*word));
    match word {
        Some("properties") => simple.retain(|name, _| name != "$ref" && name != "oneOf"),
        Some(word) => simple.retain(|name, _| name == "description" || name == word || name == BRANCHES),
        None => {}
    }
}

/// Returns true if a schema accepts any value.
pub(crate) fn is_unconstrained(schema: &Value) -> bool {
    schema.as_object().is_none_or(|schema| schema.keys().all(|name| name == "description"))
}

pub(crate) fn types(schema: &Object, place: &str) -> Result<Option<Value>, String> {
    let Some(given) = schema.get("type") else { return Ok(None) };
    let names = given.as_array().cloned().unwrap_or_else(|| vec![given.clone()]);
    let is_type = |name: &Value| name.as_str().is_some_and(|name| TYPES.contains(&name));
    match names.iter().find(|name| !is_type(name)) {
        Some(wrong) => Err(format!("{} has the unknown type {wrong}", shown(place))),
        None if names.is_empty() => Err(format!("{} has an empty list of types", shown(place))),
        None => Ok(Some(given.clone())),
    }
}

/// Returns the values of `const` or `enum` if they are strings, or strings and `null`.
pub(crate) fn texts(schema: &Object) -> Option<Value> {
    let only = schema.get("const").map(|only| vec![only.clone()]);
    let mut texts = only.or_else(|| schema.get("enum")?.as_array().cloned())?;
    distinct(&mut texts);
    let is_text = texts.iter().all(|text| text.is_string() || text.is_null()) && texts.iter().any(Value::is_string);
    is_text.then(|| texts.into())
}

/// Removes duplicates.
pub(crate) fn distinct(values: &mut Vec<Value>) {
    let mut seen = BTreeSet::new();
    values.retain(|value| seen.insert(value.to_string()));
}

pub(crate) fn required(schema: &Object, place: &str) -> Result<Vec<Value>, String> {
    match schema.get("required") {
        None => Ok(Vec::new()),
        Some(Value::Array(names)) if names.iter().all(Value::is_string) => Ok(names.clone()),
        Some(_) => Err(format!("{} must be an array of strings", shown(&format!("{place}/required")))),
    }
}

pub(crate) fn shown(place: &str) -> String {
    if place.is_empty() { "the root".to_owned() } else { format!("`{}`", place.escape_debug()) }
}
