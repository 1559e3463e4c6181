//! Input schemas whose root is a plain object.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::merge::{Keywords, has_in_place, names, simplify_unevaluated};

/// Merges the properties of the parts of a choice or conjunction into the whole schema. Returns a reason if the whole
/// does not accept some values that the parts accept.
pub fn merge_objects(keywords: &mut Keywords, parts: &[Value], is_join: bool, closes: bool) -> Option<&'static str> {
    let parts: Vec<Part> = parts.iter().filter(|part| is_join || may_be_object(part)).map(Part::new).collect();
    let mut schemas: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut required: Option<Vec<Value>> = None;
    for part in &parts {
        for (name, schema) in part.keywords.get("properties").and_then(Value::as_object).into_iter().flatten() {
            let there = schemas.entry(name.clone()).or_default();
            if !there.contains(schema) {
                there.push(schema.clone());
            }
        }
        let these = part.keywords.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
        required = Some(match (required, is_join) {
            (None, _) => these,
            (Some(those), true) => those.into_iter().chain(these).collect(),
            (Some(those), false) => those.into_iter().filter(|name| these.contains(name)).collect(),
        });
    }
    let shows_all = parts.iter().all(|part| !part.hides && !part.welcomes);
    let restricts = !is_join
        && schemas.keys().any(|name| parts.iter().any(|part| !part.declares(name) && part.accepts_unknown(closes)));
    // An undeclared object is a map.
    let is_empty = |has: &Keywords| has.get("properties").and_then(Value::as_object).is_none_or(|has| has.is_empty());
    let has_map = !is_join && is_empty(keywords) && parts.iter().any(|part| !part.refuses && is_empty(&part.keywords));
    let loses_required =
        !is_join && !keywords.contains_key("additionalProperties") && requires_unknown(keywords, &parts, &schemas);
    let all_closed = !parts.is_empty() && parts.iter().all(|part| part.refuses) && !is_join;

    let properties = keywords.entry("properties").or_insert_with(|| json!({}));
    if let Value::Object(properties) = properties {
        for (name, mut schemas) in schemas {
            let schema = if schemas.len() == 1 { schemas.remove(0) } else { either(schemas) };
            properties.entry(name).or_insert(schema);
        }
    }
    if let Value::Array(there) = keywords.entry("required").or_insert_with(|| json!([])) {
        for name in required.unwrap_or_default() {
            if !there.contains(&name) {
                there.push(name);
            }
        }
    }
    let refuses_others = keywords.get("unevaluatedProperties") == Some(&Value::Bool(false)) || all_closed;
    if refuses_others && shows_all {
        keywords.remove("unevaluatedProperties");
        keywords.entry("additionalProperties").or_insert(Value::Bool(false));
    } else if !closes && (refuses_others || !shows_all) {
        // A part may evaluate properties that the merged object does not declare.
        keywords.remove("unevaluatedProperties");
    }
    if closes && !shows_all {
        Some(
            "at the root is merged into one object; properties that a nested schema or a pattern of a part declares cannot be sent",
        )
    } else if closes && has_map {
        Some(
            "at the root is merged into one object; properties of arbitrary names, which a part accepts, cannot be sent",
        )
    } else if closes && loses_required {
        Some(
            "at the root is merged into one object; properties that a part requires and does not declare cannot be sent",
        )
    } else if restricts {
        Some(
            "at the root is merged into one object; properties that only one part declares have to match the schema of that part",
        )
    } else {
        None
    }
}

/// Returns true if a part requires a property that neither the part nor the whole declares. The whole declares the
/// properties that it requires or that all parts require, so that such a property accepts any value unless another part
/// declares it.
fn requires_unknown(keywords: &Keywords, parts: &[Part], schemas: &BTreeMap<String, Vec<Value>>) -> bool {
    let is_known = |name: &str| {
        let is_required = requires(keywords, name) || parts.iter().all(|part| requires(&part.keywords, name));
        declares(keywords, name) || (is_required && !schemas.contains_key(name))
    };
    parts.iter().filter(|part| !part.refuses).any(|part| {
        let required = part.keywords.get("required").and_then(Value::as_array).into_iter().flatten();
        required.filter_map(Value::as_str).any(|name| !part.declares(name) && !is_known(name))
    })
}

fn declares(keywords: &Keywords, name: &str) -> bool {
    keywords.get("properties").is_some_and(|properties| properties.get(name).is_some())
}

fn requires(keywords: &Keywords, name: &str) -> bool {
    let required = keywords.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|required| required == name))
}

/// A part, with its rules for undeclared properties.
struct Part {
    keywords: Keywords,
    /// Other schemas of the same value, or patterns, may declare properties.
    hides: bool,
    /// It rejects undeclared properties.
    refuses: bool,
    /// It explicitly accepts undeclared properties.
    welcomes: bool,
}

impl Part {
    fn new(part: &Value) -> Self {
        let mut keywords = part.as_object().cloned().unwrap_or_default();
        simplify_unevaluated(&mut keywords);
        let others = keywords.get("additionalProperties");
        let unevaluated = keywords.get("unevaluatedProperties");
        let hides = has_in_place(&keywords) || keywords.contains_key("patternProperties");
        let refuses = !hides && others == Some(&Value::Bool(false));
        let welcomes = others.or(unevaluated).is_some_and(|others| *others != false) || *part == true;
        Self { refuses, welcomes, hides, keywords }
    }

    fn declares(&self, name: &str) -> bool {
        declares(&self.keywords, name)
    }

    /// Returns true if an undeclared property may have any value. A part without a rule is closed if every object has
    /// to be.
    fn accepts_unknown(&self, closes: bool) -> bool {
        self.welcomes || self.hides || !(self.refuses || closes)
    }
}

/// Returns true if a part may accept objects. Arguments are objects, so that other branches are irrelevant.
fn may_be_object(part: &Value) -> bool {
    let allows = |name: &Value| names(name).is_none_or(|names| names.contains(&"object"));
    *part != false && part.get("type").is_none_or(allows)
}

/// Returns an `enum` of constants, or else a choice.
fn either(schemas: Vec<Value>) -> Value {
    let constants: Option<Vec<Value>> = schemas.iter().map(|schema| schema.get("const").cloned()).collect();
    match constants {
        Some(constants) => json!({ "enum": constants }),
        None => json!({ "anyOf": schemas }),
    }
}
