//! Conversion of facts about a value to facts about the values inside it.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::super::budget::Undecided;
use super::Prover;
use super::assume::{assume, restrict};
use super::facts::{Case, DocumentNode, Facts};
use super::leaf::count;
use crate::dialect::Dialect;

/// Returns the facts about the value of a key.
pub(super) fn at_key<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, key: &str) -> Result<Facts<'s>, Undecided> {
    let mut inner = picked(prover, facts, |value| value.as_object().and_then(|object| object.get(key)))?;
    inner.is_contradictory |= facts.absent.contains(key);
    for node in &facts.schemas {
        prover.budget.spend(1)?;
        let mut is_named = false;
        if let Some(schema) = node.get("properties").and_then(|properties| properties.get(key)) {
            is_named = true;
            assume(prover, &mut inner, node.at(schema))?;
        }
        for (pattern, schema) in node.object("patternProperties") {
            if prover.matchers.is_match(pattern, key, prover.budget)? {
                is_named = true;
                assume(prover, &mut inner, node.at(schema))?;
            }
        }
        if let Some(schema) = other_keys(prover, *node).filter(|_| !is_named) {
            assume(prover, &mut inner, node.at(schema))?;
        }
    }
    Ok(inner)
}

/// Returns the facts about the value of a key that no schema declares. The key matches `matched` and none of
/// `unmatched`; it may match any other pattern.
pub(super) fn at_other_key<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    matched: Option<&str>,
    unmatched: &[&str],
) -> Result<Facts<'s>, Undecided> {
    let mut inner = Facts::any();
    // All keys of known values are named.
    inner.is_contradictory = facts.values.is_some();
    for node in &facts.schemas {
        prover.budget.spend(1)?;
        let mut cases: Vec<Case<'s>> = Vec::new();
        let mut is_matched = false;
        for (pattern, schema) in node.object("patternProperties") {
            prover.budget.spend(1 + unmatched.len() as u64)?;
            if Some(pattern) == matched {
                is_matched = true;
                assume(prover, &mut inner, node.at(schema))?;
            } else if !unmatched.contains(&pattern) {
                cases.push(Case::Holds(node.at(schema)));
            }
        }
        if is_matched {
            continue;
        }
        let others = other_keys(prover, *node);
        if cases.is_empty() {
            if let Some(schema) = others {
                assume(prover, &mut inner, node.at(schema))?;
            }
        } else if let Some(schema) = others {
            cases.push(Case::Holds(node.at(schema)));
            inner.choices.push(cases.into());
            inner.forget_origin();
        }
    }
    Ok(inner)
}

/// Returns the keys that occur in the facts.
pub(super) fn named_keys<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>) -> Result<BTreeSet<&'s str>, Undecided> {
    let mut keys: BTreeSet<&'s str> = BTreeSet::new();
    for node in &facts.schemas {
        keys.extend(node.object("properties").map(|(key, _)| key));
    }
    for value in facts.values.iter().flatten() {
        if let Cow::Borrowed(Value::Object(object)) = value {
            keys.extend(object.keys().map(String::as_str));
        }
    }
    prover.budget.spend((keys.len() + facts.schemas.len()) as u64)?;
    Ok(keys)
}

/// Returns the schema of the keys that the adjacent `properties` and `patternProperties` do not declare.
pub(super) fn other_keys<'s>(prover: &Prover<'s, '_>, node: DocumentNode<'s>) -> Option<&'s Value> {
    let unevaluated = || unevaluated(prover, node, "unevaluatedProperties");
    node.get("additionalProperties").or_else(unevaluated)
}

/// Returns an `unevaluated…` keyword that depends only on the keywords of its own schema.
fn unevaluated<'s>(prover: &Prover<'s, '_>, node: DocumentNode<'s>, keyword: &str) -> Option<&'s Value> {
    const APPLICATORS: [&str; 11] = [
        "$ref",
        "$dynamicRef",
        "allOf",
        "anyOf",
        "oneOf",
        "not",
        "if",
        "then",
        "else",
        "dependentSchemas",
        "dependencies",
    ];
    let is_known = prover.documents[node.document].dialect == Dialect::Draft202012;
    let is_alone = || APPLICATORS.iter().all(|applicator| node.get(applicator).is_none());
    node.get(keyword).filter(|_| is_known && is_alone())
}

/// Returns the facts about the item at an index.
pub(super) fn at_index<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, idx: usize) -> Result<Facts<'s>, Undecided> {
    let mut inner = picked(prover, facts, |value| value.as_array().and_then(|items| items.get(idx)))?;
    for node in &facts.schemas {
        prover.budget.spend(1)?;
        let (prefix, rest) = items(prover, *node);
        if let Some(schema) = prefix.get(idx).or(rest) {
            assume(prover, &mut inner, node.at(schema))?;
        }
    }
    Ok(inner)
}

/// Returns the facts about every item from index [`Prover::prefix_len`].
pub(super) fn at_rest<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>) -> Result<Facts<'s>, Undecided> {
    let mut inner = Facts::any();
    inner.is_contradictory = facts.values.is_some();
    for node in &facts.schemas {
        prover.budget.spend(1)?;
        if let (_, Some(schema)) = items(prover, *node) {
            assume(prover, &mut inner, node.at(schema))?;
        }
    }
    Ok(inner)
}

/// Returns the facts about every item, regardless of its index.
pub(super) fn at_any_index<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>) -> Result<Facts<'s>, Undecided> {
    let mut inner = Facts::any();
    for node in &facts.schemas {
        prover.budget.spend(1)?;
        if let ([], Some(schema)) = items(prover, *node) {
            assume(prover, &mut inner, node.at(schema))?;
        }
    }
    Ok(inner)
}

/// Returns the index from which the facts do not distinguish items.
pub(super) fn prefix_len<'s>(prover: &Prover<'s, '_>, facts: &Facts<'s>) -> usize {
    let prefixes = facts.schemas.iter().map(|node| items(prover, *node).0.len());
    let values = facts.values.iter().flatten().filter_map(|value| Some(value.as_array()?.len()));
    prefixes.chain(values).max().unwrap_or(0)
}

/// Returns the schemas of the first items, and that of the others.
pub(super) fn items<'s>(prover: &Prover<'s, '_>, node: DocumentNode<'s>) -> (&'s [Value], Option<&'s Value>) {
    let items = node.get("items");
    match (prover.documents[node.document].dialect, items) {
        (Dialect::Draft7, Some(Value::Array(prefix))) => (prefix, node.get("additionalItems")),
        (Dialect::Draft7, items) => (&[], items),
        (Dialect::Draft202012, items) => {
            let unevaluated =
                || unevaluated(prover, node, "unevaluatedItems").filter(|_| node.get("contains").is_none());
            (node.array("prefixItems"), items.or_else(unevaluated))
        }
    }
}

/// Returns the minimum and maximum number of items.
pub(super) fn item_counts<'s>(prover: &Prover<'s, '_>, facts: &Facts<'s>) -> (u64, Option<u64>) {
    let (mut least, mut most) = (0, None);
    let mut at_most = |n: u64| most = Some(most.map_or(n, |most: u64| most.min(n)));
    for node in &facts.schemas {
        least = least.max(count(node.get("minItems")).unwrap_or(0));
        if let Some(n) = count(node.get("maxItems")) {
            at_most(n);
        }
        if let (prefix, Some(Value::Bool(false))) = items(prover, *node) {
            at_most(prefix.len() as u64);
        }
        if node.get("contains").is_some() {
            least = least.max(contains_counts(prover, *node).0);
        }
    }
    (least, most)
}

/// Returns the minimum and maximum number of items that match `contains`.
pub(super) fn contains_counts<'s>(prover: &Prover<'s, '_>, node: DocumentNode<'s>) -> (u64, Option<u64>) {
    match prover.documents[node.document].dialect {
        Dialect::Draft7 => (1, None),
        Dialect::Draft202012 => (count(node.get("minContains")).unwrap_or(1), count(node.get("maxContains"))),
    }
}

/// Returns the facts about parts of the known values.
fn picked<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    pick: impl Fn(&Value) -> Option<&Value>,
) -> Result<Facts<'s>, Undecided> {
    let mut inner = Facts::any();
    if let Some(values) = &facts.values {
        let picked = values.iter().filter_map(|value| match value {
            Cow::Borrowed(value) => pick(value).map(Cow::Borrowed),
            Cow::Owned(value) => pick(value).cloned().map(Cow::Owned),
        });
        let picked: Vec<Cow<'s, Value>> = picked.collect();
        inner.is_contradictory = picked.is_empty();
        restrict(prover, &mut inner, picked)?;
        inner.forget_origin();
    }
    Ok(inner)
}

/// Returns the keys of every object for which the facts hold.
pub(super) fn required_keys<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
) -> Result<BTreeSet<&'s str>, Undecided> {
    let mut keys = facts.required.clone();
    if let Some(values) = &facts.values {
        let has = |key: &&str| values.iter().all(|value| value.get(*key).is_some());
        keys.extend(named_keys(prover, facts)?.into_iter().filter(has));
    }
    loop {
        let before = keys.len();
        for node in &facts.schemas {
            prover.budget.spend(1)?;
            let is_known = prover.documents[node.document].dialect == Dialect::Draft202012;
            let required = is_known.then(|| node.object("dependentRequired")).into_iter().flatten();
            for (key, names) in required.chain(node.object("dependencies")) {
                prover.budget.spend(1)?;
                if let Some(names) = names.as_array().filter(|_| keys.contains(key)) {
                    prover.budget.spend(names.len() as u64)?;
                    keys.extend(names.iter().filter_map(Value::as_str));
                }
            }
        }
        if keys.len() == before {
            return Ok(keys);
        }
    }
}
