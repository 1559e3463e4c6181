//! The passes over a schema in their order, and the root, which is an object and not a choice in every dialect.
//!
//! [`objects`](super::objects), [`arrays`](super::arrays) and [`choice`](super::choice) lower the subschemas, and come back here for each.

use serde_json::{Map, Value, json};

use super::arrays::{lower_list, lower_unevaluated_items};
use super::choice::{lower_all_of, lower_choices, lower_constant, lower_types};
use super::lowering::{Lowering, describe};
use super::names::rename_arguments;
use super::objects::{lower_object, lower_unevaluated};
use super::reference::lower_reference;
use super::remaining::{lower_remaining, remove_rejected};
use crate::dialect::Rule;
use crate::loss::{Effect, Side};
use toolkit_schema::child;
use toolkit_schema::merge::Keywords;
use toolkit_schema::root::{MergedChoice, merge_choices};

/// Lowers a subschema and its subschemas.
pub(super) fn lower_schema(lowering: &mut Lowering<'_>, schema: Value, at: &str) -> Option<Value> {
    let keywords = match schema {
        Value::Object(keywords) => keywords,
        Value::Bool(false) => Map::from_iter([("not".to_owned(), json!({}))]),
        _ => Map::new(),
    };
    lower_keywords(lowering, keywords, at).map(Value::Object)
}

/// Lowers the keywords of a schema in one pass for each group of keywords. The passes call [`lower_schema`] for
/// subschemas.
pub(super) fn lower_keywords(lowering: &mut Lowering<'_>, mut keywords: Keywords, at: &str) -> Option<Keywords> {
    let excludes_all = |excluded: &Value| *excluded == true || *excluded == json!({});
    if !lowering.dialect.reads("not") && keywords.get("not").is_some_and(excludes_all) {
        return None;
    }
    let n_lost_before = lowering.n_lost_references;
    lower_unevaluated(lowering, &mut keywords, at);
    lower_unevaluated_items(lowering, &mut keywords, at);
    lower_all_of(lowering, &mut keywords, at)?;
    // The parts of `allOf`, such as the target of a reference, may have been merged. A part with a lost reference could
    // declare any property.
    if lowering.n_lost_references == n_lost_before {
        lower_unevaluated(lowering, &mut keywords, at);
    }
    lower_unevaluated_items(lowering, &mut keywords, at);
    let is_dynamic = keywords.contains_key("$dynamicRef") && !lowering.follows_references();
    if keywords.contains_key("$ref") || is_dynamic {
        remove_rejected(lowering, &mut keywords, at);
        return lower_reference(lowering, keywords, at);
    }
    lower_choices(lowering, &mut keywords, at)?;
    lower_constant(lowering, &mut keywords)?;
    lower_types(lowering, &mut keywords, at)?;
    lower_object(lowering, &mut keywords, at)?;
    lower_list(lowering, &mut keywords, at)?;
    lower_remaining(lowering, &mut keywords, at);
    Some(keywords)
}

/// Returns true if the lowered root has the same meaning at the root and where it is referenced.
pub(super) fn keeps_root(root: &Keywords, side: Side) -> bool {
    let chooses = ["anyOf", "oneOf", "allOf", "const", "enum", "not"].iter().any(|keyword| root.contains_key(*keyword));
    side != Side::Input || (root.get("type").is_some_and(|name| name == "object") && !chooses)
}

pub(super) fn lower_root(lowering: &mut Lowering<'_>, schema: Value) -> Value {
    let mut keywords = match schema {
        Value::Object(keywords) => keywords,
        other => return lower_schema(lowering, other, "").unwrap_or_else(|| reject_all(lowering)),
    };
    if keywords.shift_remove("$schema").is_some() {
        lowering.report("", "$schema", Effect::MetadataOnly, "is removed; the dialect supports a single draft");
    }
    let definitions = ["$defs", "definitions"].map(|container| (container, keywords.shift_remove(container)));
    if lowering.side == Side::Input {
        if !set_object_type(&mut keywords) {
            return reject_all(lowering);
        }
        lower_root_choice(lowering, &mut keywords);
        rename_arguments(lowering, &mut keywords);
    }
    let Some(mut keywords) = lower_keywords(lowering, keywords, "") else {
        return reject_all(lowering);
    };
    // What is left of parts that accept nothing.
    let has_choice = ["allOf", "anyOf", "oneOf"].iter().any(|keyword| keywords.contains_key(*keyword));
    if lowering.side == Side::Input && has_choice {
        return reject_all(lowering);
    }
    for (container, definitions) in definitions {
        keep_definitions(lowering, &mut keywords, container, definitions);
    }
    if lowering.side == Side::Input {
        keywords.insert("type".to_owned(), json!("object"));
        // OpenAI rejects an object without `properties`.
        keywords.entry("properties").or_insert_with(|| json!({}));
    }
    keywords.into()
}

/// Returns a schema in place of one that accepts no arguments, or none that the dialect can express.
fn reject_all(lowering: &mut Lowering<'_>) -> Value {
    let reason = "accepts nothing that can be expressed; it is replaced by an object without properties";
    lowering.report("", "type", Effect::Narrowed, reason);
    lowering.report("", "type", Effect::Widened, reason);
    let mut schema = json!({ "type": "object", "properties": {} });
    if lowering.requires(Rule::Closed) {
        schema["additionalProperties"] = false.into();
        schema["required"] = json!([]);
    }
    schema
}

/// Keeps the definitions of recursive schemas if the dialect supports references.
fn keep_definitions(lowering: &mut Lowering<'_>, keywords: &mut Keywords, container: &str, definitions: Option<Value>) {
    let Some(Value::Object(definitions)) = definitions else {
        return;
    };
    if definitions.is_empty() || !lowering.follows_references() {
        return;
    }
    let at = child("", container);
    let mut lowered = Map::new();
    for (name, schema) in definitions {
        let at = child(&at, &name);
        let schema = lower_schema(lowering, schema, &at).unwrap_or_else(|| {
            let reason = "accepts nothing, which is not supported; it is replaced by null";
            lowering.report(&at, "type", Effect::Widened, reason);
            json!({ "type": "null" })
        });
        lowered.insert(name, schema);
    }
    keywords.insert(container.to_owned(), lowered.into());
}

/// Merges a choice between objects into a single object with the properties of all of them.
fn lower_root_choice(lowering: &mut Lowering<'_>, keywords: &mut Keywords) {
    for MergedChoice { keyword, narrowed, .. } in merge_choices(keywords, lowering.requires(Rule::Closed)) {
        let reason = match keyword {
            "allOf" => "at the root is merged into one object",
            _ => "at the root is merged into one object; the combinations of properties are not expressed",
        };
        lowering.report("", keyword, Effect::Widened, reason);
        if let Some(reason) = narrowed {
            lowering.report("", keyword, Effect::Narrowed, reason);
        }
    }
    // A part of `allOf` may have them, too.
    for keyword in ["const", "enum", "not"] {
        if keywords.contains_key(keyword) {
            describe(keywords, keyword);
            keywords.shift_remove(keyword);
            lowering.report("", keyword, Effect::Widened, "is not supported at the root");
        }
    }
}

/// Sets the type to `object`; false if the schema does not allow it.
fn set_object_type(keywords: &mut Keywords) -> bool {
    let allows = match keywords.get("type") {
        None => true,
        Some(Value::Array(names)) => names.iter().any(|name| name == "object"),
        Some(name) => name == "object",
    };
    if allows {
        keywords.insert("type".to_owned(), json!("object"));
    }
    allows
}
