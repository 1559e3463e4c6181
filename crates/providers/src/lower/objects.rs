//! Objects and their properties.
//!
//! In a closed object only declared properties are accepted. Where a dialect requires all properties, null represents an
//! absent one.

use serde_json::{Map, Value, json};

use super::keywords::{applies_only_to, describes_objects};
use super::lowering::Lowering;
use super::remaining::breaks_rule;
use super::schema::lower_schema;
use crate::dialect::Rule;
use crate::loss::Effect;
use toolkit_schema::merge::{Keywords, has_in_place, simplify_unevaluated};
use toolkit_schema::{child, walk};

/// Lowers the keywords of objects; `None` if no value is left.
pub(super) fn lower_object(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) -> Option<()> {
    lower_patterns(lowering, keywords, at);
    if lowering.requires(Rule::Closed) && describes_objects(keywords) && !declare_required(keywords) {
        return exclude_type(lowering, keywords, "object", at);
    }
    close_object(lowering, keywords, at);
    if let Some(Value::Object(properties)) = keywords.shift_remove("properties") {
        let Some(properties) = lower_properties(lowering, keywords, properties, at) else {
            return exclude_type(lowering, keywords, "object", at);
        };
        keywords.insert("properties".to_owned(), properties.into());
    }
    match keywords.shift_remove("additionalProperties") {
        Some(Value::Bool(open)) => drop(keywords.insert("additionalProperties".to_owned(), open.into())),
        Some(others) => {
            let others =
                lower_schema(lowering, others, &child(at, "additionalProperties")).unwrap_or(Value::Bool(false));
            keywords.insert("additionalProperties".to_owned(), others);
        }
        None => {}
    }
    // The official packages declare properties in each closed object.
    if lowering.requires(Rule::Closed) && keywords.get("additionalProperties") == Some(&Value::Bool(false)) {
        keywords.entry("properties").or_insert_with(|| json!({}));
    }
    if lowering.requires(Rule::Required) {
        require_all(keywords);
    }
    Some(())
}

/// Lowers the properties; `None` if a required one accepts no value.
fn lower_properties(
    lowering: &mut Lowering<'_>,
    keywords: &Keywords,
    properties: Map<String, Value>,
    at: &str,
) -> Option<Map<String, Value>> {
    let at_properties = child(at, "properties");
    let refuses_others = keywords.get("additionalProperties") == Some(&Value::Bool(false))
        && lowering.dialect.reads("additionalProperties")
        && !keywords.contains_key("patternProperties");
    let is_required = |name: &str| walk::required(keywords).any(|required| required == name);
    let mut lowered = Map::new();
    for (name, schema) in properties {
        let at = child(&at_properties, &name);
        match lower_schema(lowering, schema, &at) {
            Some(schema) => drop(lowered.insert(name, schema)),
            None if is_required(&name) => return None,
            // Undeclared properties are rejected.
            None if refuses_others => {}
            None => {
                drop(lowered.insert(name, accept_any(lowering, &at, "rejects every value, which is not supported")))
            }
        }
    }
    Some(lowered)
}

/// Removes a type from a schema that accepts no value of it; `None` if no type is left.
pub(super) fn exclude_type(lowering: &mut Lowering<'_>, keywords: &mut Keywords, name: &str, at: &str) -> Option<()> {
    match keywords.get_mut("type") {
        Some(Value::String(other)) if other != name => {}
        Some(Value::Array(names)) if names.iter().any(|other| other != name) => {
            names.retain(|other| other != name);
            if let [only] = &names[..] {
                let only = only.clone();
                keywords.insert("type".to_owned(), only);
            }
        }
        Some(_) => return None,
        None => lowering.report(at, "type", Effect::Widened, format!("cannot exclude {name}; any type is accepted")),
    }
    keywords.retain(|keyword, _| !applies_only_to(keyword, name));
    Some(())
}

/// Returns a schema that accepts any value, in place of one that the dialect cannot express.
pub(super) fn accept_any(lowering: &mut Lowering<'_>, at: &str, reason: &str) -> Value {
    lowering.report(at, "not", Effect::Widened, reason);
    if !lowering.requires(Rule::Typed) {
        return json!({});
    }
    lowering.report(at, "type", Effect::Narrowed, "is missing, but required; only strings can be sent");
    json!({ "type": "string" })
}

/// Declares the required properties of a closed object; false if the object rejects one of them.
fn declare_required(keywords: &mut Keywords) -> bool {
    let names: Vec<String> = walk::required(keywords).map(str::to_owned).collect();
    let others = keywords.get("additionalProperties").cloned().unwrap_or_else(|| json!({}));
    if names.is_empty() {
        return true;
    }
    let Value::Object(properties) = keywords.entry("properties").or_insert_with(|| json!({})) else {
        return true;
    };
    for name in names {
        if !properties.contains_key(&name) {
            if others == false {
                return false;
            }
            properties.insert(name, others.clone());
        }
    }
    true
}

/// Closes an object if the dialect requires it.
pub(super) fn close_object(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if !lowering.requires(Rule::Closed) || !describes_objects(keywords) {
        return;
    }
    let declares = keywords.get("properties").and_then(Value::as_object).is_some_and(|named| !named.is_empty());
    let others = keywords.insert("additionalProperties".to_owned(), false.into());
    let unevaluated = keywords.shift_remove("unevaluatedProperties");
    let reason = match (others, unevaluated) {
        (Some(Value::Bool(false)), _) => return,
        (Some(_), _) => "has to be `false`; properties of arbitrary names cannot be sent",
        (None, unevaluated) if has_in_place(keywords) => match unevaluated {
            Some(_) => "is set to `false`; properties that another part of the schema declares cannot be sent",
            None => "is set to `false`; properties that only another part of the schema declares cannot be sent",
        },
        (None, Some(Value::Bool(false))) => return,
        (None, None) if declares && !keywords.contains_key("enum") && !keywords.contains_key("const") => {
            let reason = "is set to `false`; undeclared properties cannot be sent";
            return lowering.report(at, "additionalProperties", Effect::MetadataOnly, reason);
        }
        (None, _) => "has to be `false`; properties of arbitrary names cannot be sent",
    };
    lowering.report(at, "additionalProperties", Effect::Narrowed, reason);
}

/// Replaces `unevaluatedProperties` by `additionalProperties` where both have the same meaning, and removes it if
/// the dialect does not support it.
pub(super) fn lower_unevaluated(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    let is_closed = keywords.get("unevaluatedProperties") == Some(&Value::Bool(false));
    let reads = lowering.dialect.reads("unevaluatedProperties");
    let reads_additional = lowering.dialect.reads("additionalProperties");
    if (is_closed || !reads) && (reads_additional || keywords.contains_key("additionalProperties")) {
        let is_schema = keywords.get("unevaluatedProperties").is_some_and(Value::is_object);
        simplify_unevaluated(keywords);
        let describes = is_schema && keywords.get("additionalProperties").is_some_and(Value::is_object);
        if describes && lowering.requires(Rule::Required) && requires_undeclared(keywords) {
            // A validator does not report violations inside unevaluated properties.
            let reason =
                "applies to required properties; a null inside them that represents an absent property is rejected";
            lowering.report(at, "unevaluatedProperties", Effect::Widened, reason);
        }
    }
    // The object will be closed, which has the same meaning.
    if !reads && !lowering.requires(Rule::Closed) && keywords.shift_remove("unevaluatedProperties").is_some() {
        lowering.report(at, "unevaluatedProperties", Effect::Widened, "is not supported");
    }
}

fn requires_undeclared(keywords: &Keywords) -> bool {
    let is_declared = |name: &str| keywords.get("properties").is_some_and(|properties| properties.get(name).is_some());
    walk::required(keywords).any(|name| !is_declared(name))
}

/// Removes `patternProperties` if the dialect does not support it.
///
/// A closed object then rejects the properties that match a pattern, and an open one accepts properties with any
/// name.
pub(super) fn lower_patterns(lowering: &mut Lowering<'_>, keywords: &mut Keywords, at: &str) {
    if lowering.dialect.reads("patternProperties") && !breaks_rule(lowering, keywords, "patternProperties") {
        return;
    }
    let Some(Value::Object(patterns)) = keywords.shift_remove("patternProperties") else {
        return;
    };
    let refuses_others = keywords.get("additionalProperties").is_some_and(|others| *others != true);
    if patterns.is_empty() {
        return;
    }
    if !lowering.requires(Rule::Closed) {
        if keywords.get("unevaluatedProperties").is_some_and(|others| *others != true) {
            keywords.shift_remove("unevaluatedProperties");
            let reason = "cannot be restricted without `patternProperties`";
            lowering.report(at, "unevaluatedProperties", Effect::Widened, reason);
        }
        if refuses_others {
            let others = keywords.shift_remove("additionalProperties");
            let reason = "cannot be restricted without `patternProperties`";
            lowering.report(at, "additionalProperties", Effect::Widened, reason);
            let mut schemas = patterns.into_values();
            if let (Some(Value::Bool(false)), Some(only), None) = (others, schemas.next(), schemas.next()) {
                keywords.insert("additionalProperties".to_owned(), only);
            }
        }
        lowering.report(at, "patternProperties", Effect::Widened, "is not supported; keys need not match a pattern");
        return;
    }
    // A declared or required property may match a pattern, too.
    for effect in [Effect::Narrowed, Effect::Widened] {
        let reason = "is not supported; keys that match a pattern cannot be sent";
        lowering.report(at, "patternProperties", effect, reason);
    }
    if keywords.contains_key("required") && keywords.get("additionalProperties") == Some(&Value::Bool(false)) {
        keywords.insert("additionalProperties".to_owned(), json!({}));
    }
}

/// Makes every property required, and lets previously optional ones be null. The names are sorted, since the order of map
/// keys depends on the features of `serde_json`.
pub(super) fn require_all(keywords: &mut Keywords) {
    let Some(Value::Object(properties)) = keywords.get_mut("properties") else {
        return;
    };
    let mut names: Vec<String> = properties.keys().cloned().collect();
    names.sort_unstable();
    let required = match keywords.insert("required".to_owned(), names.into()) {
        Some(Value::Array(required)) => required,
        _ => Vec::new(),
    };
    if let Some(Value::Object(properties)) = keywords.get_mut("properties") {
        let optional = properties.iter_mut().filter(|(name, _)| !required.iter().any(|other| other == name.as_str()));
        optional.for_each(|(_, schema)| allow_null(schema));
    }
}

/// Extends a schema to accept null.
fn allow_null(schema: &mut Value) {
    let Value::Object(keywords) = schema else {
        return;
    };
    if keywords.is_empty() {
        return;
    }
    let absent = json!({ "type": "null" });
    let is_only =
        |allowed: fn(&str) -> bool| keywords.keys().all(|keyword| keyword == "description" || allowed(keyword));
    if keywords.contains_key("type") && is_only(ignores_null) {
        add_null(keywords);
    } else if is_only(|keyword| keyword == "anyOf") {
        if let Some(Value::Array(branches)) = keywords.get_mut("anyOf")
            && !branches.contains(&absent)
        {
            branches.push(absent);
        }
    } else {
        // Keywords beside the type may reject null, too.
        let described = keywords.shift_remove("description");
        let inner = std::mem::take(keywords);
        keywords.extend(described.map(|text| ("description".to_owned(), text)));
        keywords.insert("anyOf".to_owned(), json!([inner, absent]));
    }
}

/// Returns true if a keyword accepts null with any value, or is extended to.
fn ignores_null(keyword: &str) -> bool {
    !matches!(keyword, "const" | "anyOf" | "oneOf" | "allOf" | "not" | "if" | "then" | "else" | "$ref" | "$dynamicRef")
}

fn add_null(keywords: &mut Keywords) {
    match keywords.get_mut("type") {
        Some(Value::String(name)) if name == "null" => {}
        Some(kind @ Value::String(_)) => *kind = json!([kind.take(), "null"]),
        Some(Value::Array(names)) if !names.iter().any(|name| name == "null") => names.push(json!("null")),
        _ => {}
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum")
        && !values.iter().any(Value::is_null)
    {
        values.push(Value::Null);
    }
}
