//! Merging of schemas into one: of the same value ([`join`]), of an object and the branches of a choice beside it
//! ([`spread`]), and of a choice between objects ([`merge_objects`]).

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::keywords::{
    Keywords, constrains_object, declares_beyond, describes_objects, has_in_place, simplify_unevaluated,
};
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

/// The result of [`spread`].
pub(super) enum Spread {
    /// The keywords beside the choice do not restrict objects.
    Unneeded,
    /// The keywords would have another meaning in a branch.
    Impossible,
    /// All keywords are in the branches.
    Done {
        keywords: Keywords,
        /// A value that matches several branches could have properties of each, but now matches none of them.
        is_narrower: bool,
    },
}

/// Merges the keywords beside a choice into each of its branches.
pub(super) fn spread(keywords: &Keywords) -> Spread {
    let choices = ["anyOf", "oneOf"].into_iter().filter(|choice| keywords.contains_key(*choice));
    let choices: Vec<&str> = choices.collect();
    let choice = match choices[..] {
        [] => return Spread::Unneeded,
        [choice] => choice,
        _ => {
            let concerns = |choice: &&str| declares_beyond(&json!({ *choice: keywords[*choice] }), None);
            return if choices.iter().any(concerns) { Spread::Impossible } else { Spread::Unneeded };
        }
    };
    let mut beside = keywords.clone();
    beside.retain(|keyword, _| keyword != choice && !walk::is_annotation(keyword));
    if !describes_objects(&beside) && !beside.keys().any(|keyword| constrains_object(keyword)) {
        return Spread::Unneeded;
    }
    spread_into(keywords, choice, &beside).unwrap_or(Spread::Impossible)
}

fn spread_into(keywords: &Keywords, choice: &str, beside: &Keywords) -> Option<Spread> {
    let Some(Value::Array(branches)) = keywords.get(choice) else {
        return None;
    };
    let open = Keywords::new();
    let possible = branches.iter().filter(|branch| **branch != false);
    let merged = possible.map(|branch| merge(branch.as_object().unwrap_or(&open), beside));
    let merged: Vec<Keywords> = merged.collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    let closes = keywords.get("unevaluatedProperties") == Some(&Value::Bool(false));
    let names = |branch: &Keywords| -> BTreeSet<String> {
        branch.get("properties").and_then(Value::as_object).into_iter().flat_map(Map::keys).cloned().collect()
    };
    let all_alike = merged.windows(2).all(|pair| names(&pair[0]) == names(&pair[1]));
    let is_narrower = closes && choice == "anyOf" && !all_alike && !are_disjoint(branches);
    let mut spread = keywords.clone();
    spread.retain(|keyword, _| walk::is_annotation(keyword));
    spread.insert(choice.to_owned(), merged.into_iter().map(Value::Object).collect());
    Some(Spread::Done { keywords: spread, is_narrower })
}

/// Merges a branch and the keywords beside the choice: `Some(None)` if no value matches both, and `None` if a single
/// schema cannot express both.
fn merge(branch: &Keywords, beside: &Keywords) -> Option<Option<Keywords>> {
    let (mut branch, mut beside) = (branch.clone(), beside.clone());
    simplify_unevaluated(&mut branch);
    let is_opaque =
        |schema: &Keywords| ["$ref", "patternProperties"].iter().any(|keyword| schema.contains_key(*keyword));
    if is_opaque(&branch) || is_opaque(&beside) {
        return None;
    }
    let closed = |schema: &Keywords| schema.get("additionalProperties") == Some(&Value::Bool(false));
    let (branch_closes, beside_closes) = (closed(&branch), closed(&beside));
    // Each rejects the undeclared properties of the other. A value that is not an object may match both.
    let refused = [branch_closes && !confine(&mut beside, &branch), beside_closes && !confine(&mut branch, &beside)];
    let is_object = |schema: &Keywords| schema.get("type").is_some_and(|name| name == "object");
    if refused.contains(&true) && (is_object(&branch) || is_object(&beside)) {
        return Some(None);
    }
    if (branch_closes || beside_closes) && (has_in_place(&branch) || has_in_place(&beside)) {
        return None;
    }
    let welcomes = branch.remove("additionalProperties").filter(|_| !branch_closes);
    let is_map = beside.remove("additionalProperties").is_some_and(|others| others != false);
    let sees_all = beside.remove("unevaluatedProperties");
    let is_plain = |others: Option<&Value>, plain: bool| others.is_none_or(|others| *others == plain);
    if is_map
        || branch.contains_key("unevaluatedProperties")
        || !is_plain(welcomes.as_ref(), true)
        || !is_plain(sees_all.as_ref(), false)
    {
        return None;
    }
    let mut merged = branch;
    if !join(&mut merged, &beside) {
        return None;
    }
    if branch_closes || beside_closes {
        merged.insert("additionalProperties".to_owned(), false.into());
    } else if let Some(others) = welcomes {
        merged.insert("additionalProperties".to_owned(), others);
    } else if let Some(others) = sees_all {
        merged.insert("unevaluatedProperties".to_owned(), others);
        simplify_unevaluated(&mut merged);
    }
    Some(Some(merged))
}

/// Removes the properties of `open` that `closed` does not declare; false if `open` requires one of them.
fn confine(open: &mut Keywords, closed: &Keywords) -> bool {
    let known = closed.get("properties").and_then(Value::as_object);
    let is_known = |name: &str| known.is_some_and(|known| known.contains_key(name));
    if let Some(Value::Object(properties)) = open.get_mut("properties") {
        properties.retain(|name, _| is_known(name));
    }
    let required = open.get("required").and_then(Value::as_array).into_iter().flatten();
    required.filter_map(Value::as_str).all(is_known)
}

/// Merges the properties of the parts of a choice or conjunction into the whole schema. Returns a reason if the whole
/// does not accept some values that the parts accept.
pub(super) fn merge_objects(
    keywords: &mut Keywords,
    parts: &[Value],
    is_join: bool,
    closes: bool,
) -> Option<&'static str> {
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

/// Returns true if no value can match two of the branches.
pub(crate) fn are_disjoint(branches: &[Value]) -> bool {
    let mut pairs = branches.iter().enumerate().flat_map(|(idx, a)| branches[idx + 1..].iter().map(move |b| (a, b)));
    pairs.all(|(a, b)| types_are_disjoint(a, b) || values_are_disjoint(a, b) || tags_are_disjoint(a, b))
}

fn types_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (a.get("type").and_then(names), b.get("type").and_then(names)) else {
        return false;
    };
    let overlap = |a: &str, b: &str| a == b || matches!((a, b), ("integer", "number") | ("number", "integer"));
    !a.iter().any(|a| b.iter().any(|b| overlap(a, b)))
}

fn values_are_disjoint(a: &Value, b: &Value) -> bool {
    let (Some(a), Some(b)) = (values(a), values(b)) else {
        return false;
    };
    !a.iter().any(|a| b.iter().any(|b| same(a, b)))
}

fn values(schema: &Value) -> Option<Vec<&Value>> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(constant), _) => Some(vec![constant]),
        (None, Some(Value::Array(values))) => Some(values.iter().collect()),
        _ => None,
    }
}

/// Returns true if two values are equal, or may be: `1` and `1.0` are the same value.
pub(super) fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Returns true if both schemas are of objects that require a property with disjoint values.
fn tags_are_disjoint(a: &Value, b: &Value) -> bool {
    let requires = |schema: &Value, name: &str| {
        let required = schema.get("required").and_then(Value::as_array);
        required.is_some_and(|required| required.iter().any(|required| required == name))
    };
    let is_object = |schema: &Value| schema.get("type").is_some_and(|name| name == "object");
    let (Some(of_a), Some(of_b)) = (a.get("properties"), b.get("properties")) else {
        return false;
    };
    let mut names = of_a.as_object().into_iter().flatten();
    is_object(a)
        && is_object(b)
        && names.any(|(name, tag)| {
            requires(a, name)
                && requires(b, name)
                && of_b.get(name).is_some_and(|other| values_are_disjoint(tag, other) || types_are_disjoint(tag, other))
        })
}
