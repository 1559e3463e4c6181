//! Where a schema's own subschemas are, and where a reference leads.

pub(super) mod unused;

use serde_json::{Map, Value};

pub(crate) use super::pointer::pointer;

/// The keywords that hold definitions, of this draft and of those before 2019-09.
pub(crate) const CONTAINERS: [&str; 2] = ["$defs", "definitions"];

/// How deep a document may nest for the rewrites, which recurse, to touch it.
pub(super) const MAX_DEPTH: usize = 128;
/// How many JSON values a document may have for the rewrites to touch it.
pub(super) const MAX_NODES: usize = 100_000;

/// Where a subschema stands under its keyword.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Token<'a> {
    /// It is the keyword's value.
    Only,
    Index(usize),
    Name(&'a str),
}

/// Calls `visit` with every direct subschema of `schema` and the keyword it stands under.
///
/// Positions decide, not names: a property called `items` is visited as a property, and what stands in `default`,
/// `examples`, `const` or `enum` is an instance and is never visited.
pub(crate) fn each<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a str, &'a Value)) {
    each_at(schema, |keyword, _, sub| visit(keyword, sub));
}

/// [`each`], with the place under the keyword.
pub(crate) fn each_at<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a str, Token<'a>, &'a Value)) {
    for (keyword, value) in schema {
        match (holds(keyword, value), value) {
            (Holds::One, sub) => visit(keyword, Token::Only, sub),
            (Holds::List, Value::Array(list)) => {
                list.iter().enumerate().for_each(|(idx, sub)| visit(keyword, Token::Index(idx), sub));
            }
            (Holds::Named, Value::Object(named)) => {
                let subs = named.iter().filter(|(_, sub)| is_schema(sub));
                subs.for_each(|(name, sub)| visit(keyword, Token::Name(name), sub));
            }
            _ => {}
        }
    }
}

/// [`each`], with the subschemas open to change.
pub(crate) fn each_mut(schema: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
    for (keyword, value) in schema {
        match (holds(keyword, value), value) {
            (Holds::One, sub) => visit(keyword, sub),
            (Holds::List, Value::Array(list)) => {
                list.iter_mut().for_each(|sub| visit(keyword, sub));
            }
            (Holds::Named, Value::Object(named)) => {
                let subs = named.values_mut().filter(|sub| is_schema(sub));
                subs.for_each(|sub| visit(keyword, sub));
            }
            _ => {}
        }
    }
}

/// A copy of the `value` of `keyword` in which every direct subschema is what `copy` makes of it.
pub(crate) fn rebuild(keyword: &str, value: &Value, mut copy: impl FnMut(&Value) -> Value) -> Value {
    match (holds(keyword, value), value) {
        (Holds::One, sub) => copy(sub),
        (Holds::List, Value::Array(list)) => list.iter().map(copy).collect(),
        (Holds::Named, Value::Object(named)) => named
            .iter()
            .map(|(name, sub)| {
                let sub = if is_schema(sub) { copy(sub) } else { sub.clone() };
                (name.clone(), sub)
            })
            .collect(),
        (_, other) => other.clone(),
    }
}

/// What stands under a keyword.
pub(crate) enum Holds {
    One,
    List,
    Named,
    None,
}

/// Returns what stands under a keyword.
pub(crate) fn holds(keyword: &str, value: &Value) -> Holds {
    match keyword {
        // Before draft 2020-12 this was how to say `prefixItems`.
        "items" if value.is_array() => Holds::List,
        "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "items"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "contentSchema"
        | "not"
        | "if"
        | "then"
        | "else" => Holds::One,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => Holds::List,
        "properties" | "patternProperties" | "dependentSchemas" | "dependencies" | "$defs" | "definitions" => {
            Holds::Named
        }
        _ => Holds::None,
    }
}

// Draft-07's `dependencies` mixes schemas with lists of names.
pub(crate) fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Bool(_))
}

/// Whether `keyword` only describes, so that no instance is accepted or refused for it.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "title"
            | "description"
            | "default"
            | "examples"
            | "example"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$comment"
    ) || keyword.starts_with("x-")
}

/// The schema that a `$ref` within `document` points to.
#[must_use]
pub fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    document.pointer(&pointer(reference)?).filter(|v| is_schema(v))
}

/// Returns true if a reference leads to a branch of a choice by its place, which moves with the choice.
pub(super) fn leads_into_a_choice(reference: &str) -> bool {
    pointer(reference).is_some_and(|to| to.contains("/oneOf/") || to.contains("/anyOf/"))
}

/// Returns the schema that carries `name` as its `$anchor` or `$dynamicAnchor`.
///
/// A document with an `$id` below its root has several name spaces; there, no anchor is found.
pub(crate) fn anchored<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
    let mut found = None;
    let mut pending = vec![(document, 0_usize)];
    while let Some((schema, depth)) = pending.pop() {
        let Value::Object(keywords) = schema else {
            continue;
        };
        if depth > 0 && keywords.get("$id").is_some_and(Value::is_string) {
            return None;
        }
        if ["$anchor", "$dynamicAnchor"].iter().any(|anchor| keywords.get(*anchor).is_some_and(|is| is == name)) {
            found = Some(schema);
        }
        each(keywords, |_, sub| pending.push((sub, depth + 1)));
    }
    found
}

/// The reference to the definition `name` of `container`, which is `$defs` or `definitions`.
pub(crate) fn reference(container: &str, name: &str) -> String {
    let mut reference = format!("#/{container}/");
    for byte in name.replace('~', "~0").replace('/', "~1").bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~$".contains(&byte) {
            reference.push(char::from(byte));
        } else {
            reference.push_str(&format!("%{byte:02X}"));
        }
    }
    reference
}

/// Whether `document` is one the rewrites understand and can finish: not too large or deep, and naming its schemas by
/// JSON pointers only, not by `$anchor`, `$dynamicRef` or an `$id` below the root.
pub(crate) fn is_tractable(document: &Value) -> bool {
    let mut nodes = 0;
    let mut pending = vec![(document, 0)];
    while let Some((value, depth)) = pending.pop() {
        nodes += 1;
        if nodes > MAX_NODES || depth > MAX_DEPTH {
            return false;
        }
        match value {
            Value::Array(list) => pending.extend(list.iter().map(|v| (v, depth + 1))),
            Value::Object(map) => {
                if map.iter().any(|(k, v)| v.is_string() && renames(k, depth)) {
                    return false;
                }
                pending.extend(map.values().map(|v| (v, depth + 1)));
            }
            _ => {}
        }
    }
    true
}

fn renames(keyword: &str, depth: usize) -> bool {
    match keyword {
        "$anchor" | "$dynamicAnchor" | "$dynamicRef" | "$recursiveRef" => true,
        "$id" => depth > 0,
        _ => false,
    }
}

/// The JSON values in `value`.
pub(crate) fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// The type that JSON Schema gives a value: of the numbers, an integer is what is written as one.
pub(crate) fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
