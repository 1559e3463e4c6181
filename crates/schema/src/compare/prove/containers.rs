//! Goals about arrays and objects.

use std::collections::HashSet;

use serde_json::Value;

use super::super::budget::Undecided;
use super::assume::{assume, assume_case};
use super::children::{
    at_any_index, at_index, at_key, at_other_key, at_rest, contains_counts, item_counts, items, named_keys, other_keys,
    prefix_len, required_keys,
};
use super::empty::{is_empty, refutes};
use super::facts::{Case, DocumentNode, Facts, KeywordGoal};
use super::goal::{entails, entails_below};
use super::leaf::count;
use super::{Proof, Prover};
use crate::types::Types;
use crate::walk;

/// Returns true if arrays satisfy a keyword of a goal.
pub(super) fn keeps_array<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: KeywordGoal<'s>) -> Proof {
    let KeywordGoal { node: goal, keyword, value } = goal;
    let (least, most) = item_counts(prover, facts);
    prover.budget.spend(facts.schemas.len() as u64)?;
    match keyword {
        "minItems" => Ok(count(Some(value)).is_some_and(|limit| least >= limit)),
        "maxItems" => Ok(most.zip(count(Some(value))).is_some_and(|(most, limit)| most <= limit)),
        "uniqueItems" => {
            let is_unique = |node: &DocumentNode<'s>| node.get(keyword) == Some(&Value::Bool(true));
            Ok(*value == false || most.is_some_and(|most| most <= 1) || facts.schemas.iter().any(is_unique))
        }
        "contains" => keeps_contains(prover, facts, goal, goal.at(value)),
        "prefixItems" => keeps_prefix(prover, facts, goal, value),
        "items" if value.is_array() => keeps_prefix(prover, facts, goal, value),
        // Draft-07 ignores it unless `items` is an array.
        "additionalItems" if !goal.get("items").is_some_and(Value::is_array) => Ok(true),
        "unevaluatedItems" => match evaluated_items(prover, goal, true)? {
            Some(start) => keeps_rest(prover, facts, goal.at(value), start),
            None => Ok(true),
        },
        _ => keeps_rest(prover, facts, goal.at(value), items(prover, goal).0.len()),
    }
}

fn keeps_prefix<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    goal: DocumentNode<'s>,
    prefix: &'s Value,
) -> Proof {
    let (_, most) = item_counts(prover, facts);
    for (idx, schema) in prefix.as_array().into_iter().flatten().enumerate() {
        if most.is_some_and(|most| most <= idx as u64) {
            return Ok(true);
        }
        let item = at_index(prover, facts, idx)?;
        if !entails_below(prover, &item, goal.at(schema))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if a schema accepts every item from index `start`.
fn keeps_rest<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, schema: DocumentNode<'s>, start: usize) -> Proof {
    let (_, most) = item_counts(prover, facts);
    let prefix = prefix_len(prover, facts).max(start);
    for idx in start..=prefix {
        if most.is_some_and(|most| most <= idx as u64) {
            return Ok(true);
        }
        let item = if idx == prefix { at_rest(prover, facts)? } else { at_index(prover, facts, idx)? };
        if !entails_below(prover, &item, schema)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the number of leading items that other keywords always evaluate, or `None` if they evaluate all items.
fn evaluated_items<'s>(
    prover: &mut Prover<'s, '_>,
    node: DocumentNode<'s>,
    is_outer: bool,
) -> Result<Option<usize>, Undecided> {
    prover.budget.spend(1)?;
    if node.get("items").is_some() || !is_outer && node.get("unevaluatedItems").is_some() {
        return Ok(None);
    }
    let mut start = node.array("prefixItems").len();
    let reference = node.get("$ref").and_then(Value::as_str);
    let target = reference.and_then(|reference| prover.documents[node.document].resolve(reference));
    for part in node.array("allOf").iter().chain(target) {
        match evaluated_items(prover, node.at(part), false)? {
            Some(end) => start = start.max(end),
            None => return Ok(None),
        }
    }
    Ok(Some(start))
}

fn keeps_contains<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    goal: DocumentNode<'s>,
    wanted: DocumentNode<'s>,
) -> Proof {
    let (least_items, most_items) = item_counts(prover, facts);
    let (least, most) = contains_counts(prover, goal);
    let mut has_enough = least == 0;
    let mut has_not_too_many = most.is_none_or(|most| most_items.is_some_and(|items| items <= most));
    for node in &facts.schemas {
        let Some(given) = node.get("contains") else { continue };
        let (given_least, given_most) = contains_counts(prover, *node);
        if !has_enough && given_least >= least {
            let mut item = at_any_index(prover, facts)?;
            assume(prover, &mut item, node.at(given))?;
            has_enough = entails_below(prover, &item, wanted)?;
        }
        if !has_not_too_many && given_most.zip(most).is_some_and(|(given, most)| given <= most) {
            let mut item = at_any_index(prover, facts)?;
            assume(prover, &mut item, wanted)?;
            has_not_too_many = entails_below(prover, &item, node.at(given))?;
        }
    }
    if !has_enough && least_items >= least {
        has_enough = keeps_rest(prover, facts, wanted, 0)?;
    }
    if has_enough && has_not_too_many {
        return Ok(true);
    }
    let Some(items) = facts.value().and_then(Value::as_array).map(Vec::len) else { return Ok(false) };
    let (mut surely, mut possibly) = (0, 0);
    for idx in 0..items {
        let item = at_index(prover, facts, idx)?;
        surely += u64::from(entails_below(prover, &item, wanted)?);
        possibly += u64::from(!refutes(prover, &item, wanted)?);
    }
    Ok((has_enough || surely >= least) && (has_not_too_many || most.is_none_or(|most| possibly <= most)))
}

/// The keys that are evaluated by other keywords of a goal.
#[derive(Default)]
struct Evaluated<'s> {
    names: HashSet<&'s str>,
    patterns: Vec<&'s str>,
    /// True if all keys are evaluated.
    all: bool,
}

/// Returns true if objects satisfy a keyword of a goal.
pub(super) fn keeps_object<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: KeywordGoal<'s>) -> Proof {
    let KeywordGoal { node: goal, keyword, value } = goal;
    match keyword {
        "properties" => {
            for (key, schema) in goal.object(keyword) {
                let inner = at_key(prover, facts, key)?;
                if !entails_below(prover, &inner, goal.at(schema))? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        "patternProperties" => keeps_patterns(prover, facts, goal),
        "additionalProperties" => {
            let mut evaluated = Evaluated::default();
            evaluated.add_own(goal);
            keeps_others(prover, facts, goal.at(value), &evaluated)
        }
        "unevaluatedProperties" => {
            let mut evaluated = Evaluated::default();
            evaluate(prover, goal, &mut evaluated, true)?;
            Ok(evaluated.all || keeps_others(prover, facts, goal.at(value), &evaluated)?)
        }
        "propertyNames" => keeps_names(prover, facts, goal.at(value)),
        "required" => {
            let required = required_keys(prover, facts)?;
            let mut names = value.as_array().into_iter().flatten().filter_map(Value::as_str);
            Ok(names.all(|name| required.contains(name)))
        }
        "minProperties" => {
            let required = required_keys(prover, facts)?.len() as u64;
            let least = facts.schemas.iter().filter_map(|node| count(node.get(keyword))).max();
            Ok(count(Some(value)).is_some_and(|limit| limit <= least.unwrap_or(0).max(required)))
        }
        "maxProperties" => {
            let limits = facts.schemas.iter().filter_map(|node| {
                let is_closed = other_keys(prover, *node) == Some(&Value::Bool(false));
                let is_listed = is_closed && node.object("patternProperties").next().is_none();
                let names = is_listed.then(|| node.object("properties").count() as u64);
                count(node.get(keyword)).into_iter().chain(names).min()
            });
            Ok(limits.min().zip(count(Some(value))).is_some_and(|(most, limit)| most <= limit))
        }
        _ => keeps_dependent(prover, facts, goal, keyword),
    }
}

fn keeps_patterns<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: DocumentNode<'s>) -> Proof {
    let named = named_keys(prover, facts)?;
    for (pattern, schema) in goal.object("patternProperties") {
        for key in &named {
            if prover.matchers.is_match(pattern, key, prover.budget)? {
                let inner = at_key(prover, facts, key)?;
                if !entails_below(prover, &inner, goal.at(schema))? {
                    return Ok(false);
                }
            }
        }
        let inner = at_other_key(prover, facts, Some(pattern), &[])?;
        if !entails_below(prover, &inner, goal.at(schema))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if a schema accepts the values of all keys except the evaluated ones.
fn keeps_others<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    schema: DocumentNode<'s>,
    evaluated: &Evaluated<'s>,
) -> Proof {
    if *schema.schema == true {
        return Ok(true);
    }
    for key in named_keys(prover, facts)? {
        let mut is_evaluated = evaluated.names.contains(key);
        for pattern in &evaluated.patterns {
            is_evaluated = is_evaluated || prover.matchers.is_match(pattern, key, prover.budget)?;
        }
        if !is_evaluated {
            let inner = at_key(prover, facts, key)?;
            if !entails_below(prover, &inner, schema)? {
                return Ok(false);
            }
        }
    }
    let inner = at_other_key(prover, facts, None, &evaluated.patterns)?;
    entails_below(prover, &inner, schema)
}

/// Adds the keys that a schema always evaluates: those of its own keywords and of the schemas that always apply.
fn evaluate<'s>(
    prover: &mut Prover<'s, '_>,
    node: DocumentNode<'s>,
    evaluated: &mut Evaluated<'s>,
    is_outer: bool,
) -> Result<(), Undecided> {
    prover.budget.spend(1)?;
    evaluated.add_own(node);
    evaluated.all |= node.get("additionalProperties").is_some();
    evaluated.all |= !is_outer && node.get("unevaluatedProperties").is_some();
    for part in node.array("allOf") {
        evaluate(prover, node.at(part), evaluated, false)?;
    }
    let reference = node.get("$ref").and_then(Value::as_str);
    match reference.and_then(|reference| prover.documents[node.document].resolve(reference)) {
        Some(target) => evaluate(prover, node.at(target), evaluated, false),
        None => Ok(()),
    }
}

fn keeps_names<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: DocumentNode<'s>) -> Proof {
    let mut names = Facts::any();
    assume_case(prover, &mut names, &Case::Type(Types::STRING))?;
    for node in &facts.schemas {
        if let Some(schema) = node.get("propertyNames") {
            assume(prover, &mut names, node.at(schema))?;
        }
    }
    let closed = facts.schemas.iter().find(|node| other_keys(prover, **node) == Some(&Value::Bool(false)));
    if let Some(closed) = closed {
        let named =
            closed.object("properties").map(|(name, _)| Case::Value(std::borrow::Cow::Owned(Value::from(name))));
        let matched = closed.object("patternProperties").map(|(pattern, _)| Case::Matches(pattern));
        let cases: Vec<Case<'s>> = named.chain(matched).collect();
        prover.budget.spend(cases.len() as u64)?;
        names.is_contradictory |= cases.is_empty();
        names.choices.push(cases.into());
    }
    entails_below(prover, &names, goal)
}

fn keeps_dependent<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: DocumentNode<'s>, keyword: &str) -> Proof {
    for (key, dependent) in goal.object(keyword) {
        if facts.absent.contains(key) {
            continue;
        }
        prover.budget.spend(facts.size())?;
        let mut facts = facts.clone();
        assume_case(prover, &mut facts, &Case::Has(key))?;
        let holds = match dependent {
            Value::Array(names) => {
                let required = required_keys(prover, &facts)?;
                names.iter().filter_map(Value::as_str).all(|name| required.contains(name))
            }
            schema if walk::is_schema(schema) => entails(prover, &facts, goal.at(schema))?,
            _ => true,
        };
        if !holds && !is_empty(prover, &facts, 1)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl<'s> Evaluated<'s> {
    fn add_own(&mut self, node: DocumentNode<'s>) {
        self.names.extend(node.object("properties").map(|(name, _)| name));
        self.patterns.extend(node.object("patternProperties").map(|(pattern, _)| pattern));
    }
}
