//! Merging of schemas of the same value into one.

use serde_json::{Map, Value, json};

use super::walk;

/// The keywords of a schema.
pub type Keywords = Map<String, Value>;

/// Merges as many parts as possible into `keywords`, and returns the others.
pub fn join_all(keywords: &mut Keywords, parts: Vec<Value>) -> Vec<Value> {
    keywords.insert("allOf".to_owned(), parts.into());
    flatten(keywords);
    match keywords.shift_remove("allOf") {
        Some(Value::Array(left)) => left,
        _ => Vec::new(),
    }
}

/// Merges the parts of an `allOf` into the schema, as far as a single schema can express them.
pub fn flatten(keywords: &mut Keywords) {
    let Some(Value::Array(parts)) = keywords.shift_remove("allOf") else {
        return;
    };
    let mut left = Vec::new();
    for part in parts {
        match part {
            Value::Object(mut part) => {
                flatten(&mut part);
                if part.contains_key("allOf") || !join(keywords, &part) {
                    left.push(Value::Object(part));
                }
            }
            Value::Bool(true) => {}
            other => left.push(other),
        }
    }
    if !left.is_empty() {
        keywords.insert("allOf".to_owned(), left.into());
    }
}

/// Merges `part` into `keywords`. Returns false without a change if one of them depends on adjacent keywords, or if
/// both have the same keyword with values that cannot be combined.
pub fn join(keywords: &mut Keywords, part: &Keywords) -> bool {
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
pub fn names(value: &Value) -> Option<Vec<&str>> {
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

/// Replaces `unevaluatedProperties` by `additionalProperties` if no other schema of the same value can declare
/// properties, and removes it if `additionalProperties` makes it irrelevant.
pub fn simplify_unevaluated(keywords: &mut Keywords) {
    if keywords.contains_key("additionalProperties") {
        keywords.shift_remove("unevaluatedProperties");
    } else if !has_in_place(keywords)
        && let Some(others) = keywords.shift_remove("unevaluatedProperties")
    {
        keywords.insert("additionalProperties".to_owned(), others);
    }
}

/// Returns true if another schema of the same value may declare properties that this one does not.
pub fn has_in_place(keywords: &Keywords) -> bool {
    applies_beyond(keywords, keywords.get("properties").and_then(Value::as_object))
}

fn applies_beyond(keywords: &Keywords, known: Option<&Keywords>) -> bool {
    let declares = |value: &Value| match value {
        Value::Array(parts) => parts.iter().any(|part| declares_beyond(part, known)),
        Value::Object(named) => named.values().any(|schema| declares_beyond(schema, known)),
        _ => false,
    };
    keywords.iter().any(|(keyword, value)| match keyword.as_str() {
        "$ref" | "$dynamicRef" => true,
        "allOf" | "anyOf" | "oneOf" | "dependentSchemas" | "dependencies" => declares(value),
        "if" | "then" | "else" => declares_beyond(value, known),
        _ => false,
    })
}

/// Returns true if a schema may declare properties that are not in `known`.
pub fn declares_beyond(schema: &Value, known: Option<&Keywords>) -> bool {
    let Value::Object(keywords) = schema else {
        return false;
    };
    let welcomes = |keyword: &str| keywords.get(keyword).is_some_and(|others| *others != false);
    let properties = keywords.get("properties").and_then(Value::as_object);
    let is_known = |name: &String| known.is_some_and(|known| known.contains_key(name));
    welcomes("additionalProperties")
        || welcomes("unevaluatedProperties")
        || keywords.contains_key("patternProperties")
        || properties.is_some_and(|properties| !properties.keys().all(is_known))
        || applies_beyond(keywords, known)
}

/// Appends a sentence to the description.
pub fn append(keywords: &mut Keywords, sentence: &str) {
    let text = match keywords.get("description").and_then(Value::as_str).map(str::trim_end) {
        None | Some("") => sentence.to_owned(),
        Some(text) if text.ends_with(['.', '!', '?', ':']) => format!("{text} {sentence}"),
        Some(text) => format!("{text}. {sentence}"),
    };
    keywords.insert("description".to_owned(), text.into());
}
