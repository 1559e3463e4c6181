//! Merging of two schemas of the same value.

use serde_json::{Value, json};

use super::lowering::Keywords;
use toolkit_schema::walk;

/// Merges `part` into `keywords`. Returns false without a change if one of them depends on adjacent keywords, or if
/// both have the same keyword with values that cannot be combined.
pub(super) fn join(keywords: &mut Keywords, part: &Keywords) -> bool {
    let is_annotation = |(keyword, _): (&String, &Value)| walk::is_annotation(keyword);
    if keywords.iter().all(is_annotation) || part.iter().all(is_annotation) {
        for (keyword, value) in part {
            keywords.entry(keyword.clone()).or_insert_with(|| value.clone());
        }
        return true;
    }
    let Some(additional) = additional_of_both(keywords, part) else {
        return false;
    };
    let fits = part.iter().all(|(keyword, value)| match keyword.as_str() {
        "properties" | "required" | "additionalProperties" => true,
        "type" => keywords.get("type").is_none_or(|there| in_both(there, value).is_some()),
        keyword if walk::is_annotation(keyword) => true,
        keyword => is_alone(keyword) && keywords.get(keyword).is_none_or(|there| there == value),
    });
    let stands_alone = |keyword: &String| {
        is_alone(keyword) || matches!(keyword.as_str(), "additionalProperties" | "unevaluatedProperties")
    };
    if !fits || !keywords.keys().all(stands_alone) {
        return false;
    }
    for (keyword, value) in part {
        match (keyword.as_str(), keywords.get_mut(keyword), value) {
            ("additionalProperties", _, _) => {}
            ("properties", Some(Value::Object(there)), Value::Object(new)) => add_properties(there, new),
            ("required", Some(Value::Array(there)), Value::Array(new)) => {
                let missing: Vec<Value> = new.iter().filter(|name| !there.contains(name)).cloned().collect();
                there.extend(missing);
            }
            ("type", Some(there), new) => *there = in_both(there, new).unwrap_or_else(|| there.clone()),
            (_, Some(_), _) => {}
            (_, None, value) => drop(keywords.insert(keyword.clone(), value.clone())),
        }
    }
    if let Some(additional) = additional {
        keywords.insert("additionalProperties".to_owned(), additional);
    }
    true
}

fn add_properties(there: &mut Keywords, new: &Keywords) {
    for (name, schema) in new {
        match there.get_mut(name) {
            Some(has) if has == schema => {}
            Some(has) => *has = json!({ "allOf": [has.take(), schema] }),
            None => drop(there.insert(name.clone(), schema.clone())),
        }
    }
}

/// Returns the `additionalProperties` of the merged schema, or `None` if it would apply to other properties than
/// before.
fn additional_of_both(keywords: &Keywords, part: &Keywords) -> Option<Option<Value>> {
    let knows_all = |one: &Keywords, other: &Keywords| {
        let (one, other) = (properties(one), properties(other));
        other.is_none_or(|other| other.keys().all(|name| one.is_some_and(|one| one.contains_key(name))))
    };
    let of = |schema: &Keywords| schema.get("additionalProperties").cloned();
    match (of(keywords), of(part)) {
        (None, None) => Some(None),
        (Some(there), None) => knows_all(keywords, part).then_some(Some(there)),
        (None, Some(new)) => {
            (knows_all(part, keywords) && !keywords.contains_key("unevaluatedProperties")).then_some(Some(new))
        }
        (Some(there), Some(new)) => {
            (there == new && knows_all(keywords, part) && knows_all(part, keywords)).then_some(Some(there))
        }
    }
}

fn properties(schema: &Keywords) -> Option<&Keywords> {
    schema.get("properties")?.as_object()
}

/// Returns the types that two values of `type` have in common; `None` if there are none or one is malformed.
fn in_both(a: &Value, b: &Value) -> Option<Value> {
    let (a, b) = (names(a)?, names(b)?);
    let both =
        |name: &str, others: &[&str]| others.contains(&name) || (name == "integer" && others.contains(&"number"));
    let mut common: Vec<&str> = a.iter().copied().filter(|name| both(name, &b)).collect();
    common.extend(b.iter().copied().filter(|name| both(name, &a)));
    // `integer` and `number` have `integer` in common.
    let mut unique: Vec<&str> = Vec::new();
    for name in common {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    match unique[..] {
        [] => None,
        [name] => Some(json!(name)),
        _ => Some(json!(unique)),
    }
}

/// Returns the type names of a `type`.
pub(super) fn names(value: &Value) -> Option<Vec<&str>> {
    match value {
        Value::String(name) => Some(vec![name]),
        Value::Array(names) => names.iter().map(Value::as_str).collect(),
        _ => None,
    }
}

/// Returns true if the meaning of a keyword does not depend on adjacent keywords. `patternProperties` changes that of
/// `additionalProperties`, which is merged separately.
fn is_alone(keyword: &str) -> bool {
    !walk::depends_on_siblings(keyword) && keyword != "patternProperties"
}
