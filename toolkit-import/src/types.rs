//! From a schema to types: those that `typify` makes of it or, where it cannot, of less of it.

use std::panic::{AssertUnwindSafe, catch_unwind};

use schemars08::schema::RootSchema;
use serde_json::{Map, Value, json};
use typify_impl::{TypeSpace, TypeSpaceSettings};

use crate::simplify::{plain, simplify};
use crate::tidy::{Items, tidy};

/// What becomes of a schema.
pub(crate) enum Types {
    /// It takes no arguments.
    Nothing,
    /// Types, the first of which is the root, and the properties that have a plainer type than their schema.
    Typed(Items, Vec<String>),
    /// It has no type but that of any JSON object.
    Any,
}

/// The longest schema that is read, in bytes as JSON: what `typify` does with one can take more than its length.
const MAX_LEN: usize = 1 << 18;

/// How many properties are looked at one after the other, each time together with those before it.
const MAX_ATTEMPTS: usize = 200;

/// The words of a schema without properties which takes nothing: any other may be about properties that it does not name.
const OF_NOTHING: [&str; 12] = [
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

/// The types of `schema`, the root named `root`, or what is wrong with the schema.
pub(crate) fn types(schema: &Value, root: &str) -> Result<Types, String> {
    if !schema.is_object() {
        return Err("it is no object".to_owned());
    }
    if schema.to_string().len() > MAX_LEN {
        return Ok(Types::Any);
    }
    let Some(mut simple) = simplify(schema, root)? else { return Ok(Types::Any) };
    let says = |field: &&str| simple.contains_key(*field);
    let is_object = simple.get("type").is_none_or(|name| name == "object");
    if is_object && !["properties", "oneOf", "$ref"].iter().any(says) {
        return Ok(if takes_nothing(schema) { Types::Nothing } else { Types::Any });
    }
    // With each part in every place where it is referred to, it may be longer than it was.
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
    let plainer = make_plainer(&mut simple, root);
    Ok(attempt(&simple, root).map_or(Types::Any, |items| Types::Typed(items, plainer)))
}

/// Whether an object schema without properties has no room for any, as far as it says.
fn takes_nothing(schema: &Value) -> bool {
    let is_closed = schema.get("additionalProperties").is_none_or(|given| *given == json!(false));
    is_closed && schema.as_object().is_some_and(|schema| schema.keys().all(|word| OF_NOTHING.contains(&&**word)))
}

/// Replaces each property that has no type by a plainer one, and gives their names.
fn make_plainer(simple: &mut Map<String, Value>, root: &str) -> Vec<String> {
    let Some(Value::Object(properties)) = simple.remove("properties") else { return Vec::new() };
    let mut plainer = Vec::new();
    let mut kept = Map::new();
    for (name, property) in properties {
        // Together with those that are kept: two types may get one name.
        kept.insert(name.clone(), property.clone());
        for less in [plain(&property), json!({})] {
            simple.insert("properties".to_owned(), kept.clone().into());
            if attempt(simple, root).is_some() {
                break;
            }
            if plainer.last() != Some(&name) {
                plainer.push(name.clone());
            }
            kept.insert(name.clone(), less);
        }
    }
    simple.insert("properties".to_owned(), kept.into());
    plainer
}

/// The types, if there are any: `typify` panics on what it did not expect.
fn attempt(schema: &Map<String, Value>, root: &str) -> Option<Items> {
    let schema: RootSchema = serde_json::from_value(Value::Object(schema.clone())).ok()?;
    let written = catch_unwind(AssertUnwindSafe(|| {
        let mut settings = TypeSpaceSettings::default();
        settings.with_map_type("::std::collections::BTreeMap");
        let mut types = TypeSpace::new(&settings);
        types.add_root_schema(schema).ok()?;
        Some(types.to_stream())
    }));
    tidy(written.ok()??, root)
}
