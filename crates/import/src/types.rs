//! Generation of types with `typify`, with simpler types as a fallback.

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars08::schema::RootSchema;
use serde_json::{Map, Value, json};
use typify_impl::{TypeSpace, TypeSpaceSettings};

use crate::parse::{Items, parse};
use crate::simplify::{fallback, simplify};

/// The types of a schema.
pub(crate) enum Types {
    /// An object without properties: the tool has no arguments.
    Empty,
    /// Generated types, and the properties whose type is simpler than their schema.
    Typed(Items, Vec<String>),
    /// Any JSON object, since no type could be generated.
    Any,
}

/// The maximum length of a schema in bytes, since the work of `typify` is not linear in it.
const MAX_LEN: usize = 1 << 18;

/// The maximum number of properties that are tried one after the other, each with all previous ones.
const MAX_ATTEMPTS: usize = 200;

/// The keywords of a schema without properties. Any other keyword may apply to undeclared properties.
const EMPTY_OBJECT_KEYWORDS: [&str; 12] = [
    "$schema",
    "$id",
    "$comment",
    "title",
    "description",
    "type",
    "properties",
    "required",
    "additionalProperties",
    "$defs",
    "definitions",
    "examples",
];

/// Generates the types of `schema`, with `root` as the name of the root type. Returns an error if the schema is invalid.
pub(crate) fn types(schema: &Value, root: &str) -> Result<Types, String> {
    if !schema.is_object() {
        return Err("the schema is not an object".to_owned());
    }
    if schema.to_string().len() > MAX_LEN {
        return Ok(Types::Any);
    }
    let Some(mut simple) = simplify(schema, root)? else { return Ok(Types::Any) };
    let has = |field: &&str| simple.contains_key(*field);
    let is_object = simple.get("type").is_none_or(|name| name == "object");
    if is_object && !["properties", "oneOf", "$ref"].iter().any(has) {
        return Ok(if is_empty_object(schema) { Types::Empty } else { Types::Any });
    }
    // The simplified schema may be longer, since references are inlined.
    if Value::Object(simple.clone()).to_string().len() > MAX_LEN {
        return Ok(Types::Any);
    }
    simple.insert("title".to_owned(), root.into());
    if let Some(items) = attempt(&simple, root) {
        return Ok(Types::Typed(items, Vec::new()));
    }
    if simple.get("properties").and_then(Value::as_object).is_some_and(|properties| properties.len() > MAX_ATTEMPTS) {
        return Ok(Types::Any);
    }
    let simplified = simplify_properties(&mut simple, root);
    Ok(attempt(&simple, root).map_or(Types::Any, |items| Types::Typed(items, simplified)))
}

/// Returns true if an object schema without properties does not accept any.
fn is_empty_object(schema: &Value) -> bool {
    let is_closed = schema.get("additionalProperties").is_none_or(|given| *given == json!(false));
    is_closed
        && schema.as_object().is_some_and(|schema| schema.keys().all(|word| EMPTY_OBJECT_KEYWORDS.contains(&&**word)))
}

/// Replaces each property that `typify` does not support with a simpler one, and returns the names of these properties.
fn simplify_properties(simple: &mut Map<String, Value>, root: &str) -> Vec<String> {
    let Some(Value::Object(properties)) = simple.remove("properties") else { return Vec::new() };
    let mut simplified = Vec::new();
    let mut kept = Map::new();
    for (name, property) in properties {
        // Tried together with the previous properties, since two types may get the same name.
        kept.insert(name.clone(), property.clone());
        for simpler in [fallback(&property), json!({})] {
            simple.insert("properties".to_owned(), kept.clone().into());
            if attempt(simple, root).is_some() {
                break;
            }
            if simplified.last() != Some(&name) {
                simplified.push(name.clone());
            }
            kept.insert(name.clone(), simpler);
        }
    }
    simple.insert("properties".to_owned(), kept.into());
    simplified
}

/// Generates the types with `typify`, or returns `None` if it fails. `typify` panics for some schemas.
fn attempt(schema: &Map<String, Value>, root: &str) -> Option<Items> {
    let schema: RootSchema = serde_json::from_value(Value::Object(schema.clone())).ok()?;
    let generated = catch_unwind(AssertUnwindSafe(|| {
        let mut settings = TypeSpaceSettings::default();
        settings.with_map_type("::std::collections::BTreeMap");
        let mut types = TypeSpace::new(&settings);
        types.add_root_schema(schema).ok()?;
        Some(types.to_stream())
    }));
    parse(generated.ok()??, root)
}
