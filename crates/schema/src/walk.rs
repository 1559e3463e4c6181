//! Traversal of subschemas and resolution of references.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::pointer::child;
pub use super::pointer::pointer;

/// The keywords that contain definitions, in current and older drafts.
pub const CONTAINERS: [&str; 2] = ["$defs", "definitions"];

/// The maximum depth of a document that is rewritten, since the rewrites recurse.
pub(super) const MAX_DEPTH: usize = 128;
/// The maximum number of JSON values in a document that is rewritten.
pub(super) const MAX_NODES: usize = 100_000;

/// The position of a subschema in the value of its keyword.
#[derive(Clone, Copy, Debug)]
pub enum Token<'a> {
    /// The value of the keyword itself.
    Only,
    /// An item of the list, by its position.
    Index(usize),
    /// The value of a name in the object.
    Name(&'a str),
}

impl Token<'_> {
    /// Returns the pointer to the subschema of the keyword at `keyword`.
    #[must_use]
    pub fn below(self, keyword: String) -> String {
        match self {
            Self::Only => keyword,
            Self::Index(idx) => child(&keyword, &idx.to_string()),
            Self::Name(name) => child(&keyword, name),
        }
    }
}

/// Calls `visit` with every direct subschema of `schema` and its keyword.
///
/// Positions matter, not names: a property called `items` is visited as a property, and the values of `default`,
/// `examples`, `const` and `enum` are instances and are not visited.
pub fn each<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a str, &'a Value)) {
    each_at(schema, |keyword, _, sub| visit(keyword, sub));
}

/// Does the same as [`each`], and passes the position in the value of the keyword.
pub fn each_at<'a>(schema: &'a Map<String, Value>, mut visit: impl FnMut(&'a str, Token<'a>, &'a Value)) {
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

/// Does the same as [`each`] with mutable subschemas.
pub fn each_mut(schema: &mut Map<String, Value>, mut visit: impl FnMut(&str, &mut Value)) {
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

/// Returns a copy of the `value` of `keyword` with every direct subschema replaced by the result of `copy`.
pub fn rebuild(keyword: &str, value: &Value, mut copy: impl FnMut(&Value) -> Value) -> Value {
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

/// The kind of subschemas that a keyword contains.
pub enum Holds {
    /// The value is a subschema.
    One,
    /// The value is a list of subschemas.
    List,
    /// The values of the object are subschemas.
    Named,
    /// The keyword contains no subschemas.
    None,
}

/// Returns the kind of subschemas that a keyword contains.
pub fn holds(keyword: &str, value: &Value) -> Holds {
    match keyword {
        // Before draft 2020-12, an array of `items` had the meaning of `prefixItems`.
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

/// Returns true for an object or a boolean: `dependencies` of draft-07 mixes schemas with lists of names.
pub fn is_schema(value: &Value) -> bool {
    matches!(value, Value::Object(_) | Value::Bool(_))
}

/// Returns true if `keyword` does not affect which values are accepted.
pub fn is_annotation(keyword: &str) -> bool {
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

/// Returns true if the meaning of `keyword` depends on the keywords beside it, in draft 2020-12.
pub fn depends_on_siblings(keyword: &str) -> bool {
    matches!(
        keyword,
        "additionalProperties"
            | "unevaluatedProperties"
            | "items"
            | "prefixItems"
            | "unevaluatedItems"
            | "contains"
            | "minContains"
            | "maxContains"
            | "if"
            | "then"
            | "else"
    )
}

/// Returns true if the type of a schema is `name`, or a list with it.
#[must_use]
pub fn may_be(keywords: &Map<String, Value>, name: &str) -> bool {
    match keywords.get("type") {
        Some(Value::Array(names)) => names.iter().any(|other| other == name),
        Some(other) => other == name,
        None => false,
    }
}

/// Returns the names that an object of the schema must have.
pub fn required(schema: &Map<String, Value>) -> impl Iterator<Item = &str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

/// Returns true if an object of the schema must have the name.
#[must_use]
pub fn requires(schema: &Value, name: &str) -> bool {
    schema.as_object().is_some_and(|schema| required(schema).any(|required| required == name))
}

/// Returns the schema that a `$ref` within `document` points to.
#[must_use]
pub fn resolve<'a>(document: &'a Value, reference: &str) -> Option<&'a Value> {
    let schema = match reference.strip_prefix("#/") {
        // Most references are names that need no decoding.
        Some(names) if !names.contains(['%', '~']) => names.split('/').try_fold(document, |value, name| match value {
            Value::Object(object) => object.get(name),
            other => other.pointer(&["/", name].concat()),
        }),
        _ => document.pointer(&pointer(reference)?),
    };
    schema.filter(|v| is_schema(v))
}

/// Returns true if a reference points into a branch of a choice, so that rewriting the choice would break it.
pub(super) fn leads_into_a_choice(reference: &str) -> bool {
    pointer(reference).is_some_and(|to| to.contains("/oneOf/") || to.contains("/anyOf/"))
}

/// Returns the schema with the `$anchor` or `$dynamicAnchor` `name`.
///
/// Returns `None` if a subschema has an `$id`, since the document then has several namespaces.
pub fn anchored<'a>(document: &'a Value, name: &str) -> Option<&'a Value> {
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

/// Returns the reference to the definition `name` of `container`, which is `$defs` or `definitions`.
pub fn reference(container: &str, name: &str) -> String {
    let mut reference = format!("#/{container}/");
    for byte in child("", name)[1..].bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~$".contains(&byte) {
            reference.push(char::from(byte));
        } else {
            reference.push_str(&format!("%{byte:02X}"));
        }
    }
    reference
}

/// Returns true if the rewrites support `document`: its size and depth are within the limits, and it has no `$anchor`,
/// `$dynamicRef` or nested `$id`.
pub fn is_tractable(document: &Value) -> bool {
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

/// Returns the number of JSON values in `value`.
pub fn size(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(size).sum::<usize>(),
        Value::Object(map) => 1 + map.values().map(size).sum::<usize>(),
        _ => 1,
    }
}

/// Returns the JSON Schema type of a value. A number is an integer only if it is written as one.
pub fn type_of(value: &Value) -> &'static str {
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

/// Removes the definitions that are not reachable from the root.
pub(crate) fn remove_unused(document: &mut Value) {
    let mut used = BTreeSet::new();
    let mut pending: Vec<String> = match document.as_object() {
        Some(root) => root
            .iter()
            .filter(|(keyword, _)| !CONTAINERS.contains(&keyword.as_str()))
            .flat_map(|(_, value)| references_at_any_place(value))
            .chain(root.get("$ref").and_then(Value::as_str).and_then(pointer))
            .collect(),
        None => return,
    };
    while let Some(target) = pending.pop() {
        // A reference into a definition keeps all of it.
        let mut parts = target.splitn(4, '/').skip(1);
        let (Some(container), Some(name)) = (parts.next(), parts.next()) else {
            continue;
        };
        let owner = format!("/{container}/{name}");
        if CONTAINERS.contains(&container)
            && let Some(schema) = document.pointer(&owner)
            && used.insert(owner)
        {
            pending.extend(references_at_any_place(schema));
        }
    }
    for container in CONTAINERS {
        let Some(Value::Object(named)) = document.get_mut(container) else {
            continue;
        };
        named.retain(|name, _| used.contains(&child(&child("", container), name)));
        if named.is_empty()
            && let Some(root) = document.as_object_mut()
        {
            root.shift_remove(container);
        }
    }
}

// Searches everywhere, since a pointer may lead to a schema under an unknown keyword.
fn references_at_any_place(value: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(list) => pending.extend(list),
            Value::Object(map) => {
                found.extend(map.get("$ref").and_then(Value::as_str).and_then(pointer));
                pending.extend(map.values());
            }
            _ => {}
        }
    }
    found
}
