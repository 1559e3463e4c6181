//! Proofs of goals, keyword by keyword: `enum`, `const`, `type`, and the keywords that combine schemas.

use std::borrow::Cow;
use std::collections::HashSet;

use serde_json::{Map, Value};

use super::assume::{assume, assume_not, cases, with_case};
use super::containers::{keeps_array, keeps_object};
use super::empty::{EFFORT, is_empty, refutes};
use super::facts::{DocumentNode, Facts, KeywordGoal};
use super::leaf::{exact_text, keeps_number, keeps_text, value_meets};
use super::number::{self, End};
use super::same::{is_given, is_same, is_same_text};
use super::{MAX_KEY, MAX_KNOWN, Proof, Prover};
use crate::number::ExactNumber;
use crate::types::Types;

/// Proves that the schema `goal` of one document accepts every value that the schema `given` of the other accepts.
/// Both are parts of their documents.
pub(in crate::compare) fn accepts_all<'s>(
    prover: &mut Prover<'s, '_>,
    goal: (usize, &'s Value),
    given: (usize, &'s Value),
) -> Proof {
    let node = |(document, schema)| DocumentNode { schema, document };
    let (goal, given) = (node(goal), node(given));
    prover.unproven = None;
    prover.open.clear();
    (prover.level, prover.depth) = (0, 0);
    if !prover.documents.iter().all(|document| document.is_tractable) {
        // References other than pointers are not followed, so only documents with equal text are known to be
        // equivalent.
        let [a, b] = [&prover.documents[0], &prover.documents[1]];
        let is_whole = std::ptr::eq(goal.schema, prover.documents[goal.document].root)
            && std::ptr::eq(given.schema, prover.documents[given.document].root);
        return Ok(is_whole && a.dialect == b.dialect && is_same_text(a.root, b.root, prover.budget)?);
    }
    let mut facts = Facts::any();
    assume(prover, &mut facts, given)?;
    entails(prover, &facts, goal)
}

/// Returns true if `goal` accepts every value for which the facts hold.
pub(super) fn entails<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: DocumentNode<'s>) -> Proof {
    prover.budget.spend(1)?;
    if facts.is_contradictory || facts.types.is_empty() {
        return Ok(true);
    }
    let keywords = match goal.schema {
        Value::Bool(true) => return Ok(true),
        Value::Object(keywords) => keywords,
        _ => return is_empty(prover, facts, EFFORT),
    };
    if prover.depth >= prover.max_depth {
        return Ok(false);
    }
    let key = facts.key(goal.schema);
    if let Some(key) = &key {
        prover.budget.spend(1 + (prover.open.len() + key.facts.len()) as u64 / 4)?;
        if let Some(known) = prover.known.get(key) {
            return Ok(*known);
        }
        if let Some(place) = prover.open.iter().rposition(|(open, _)| open == key) {
            // The value is smaller, and the proof for values of its size does not depend on this one.
            let is_smaller = prover.open[place].1 < prover.level;
            prover.lowest_used = prover.lowest_used.min(if is_smaller { place } else { usize::MAX });
            return Ok(is_smaller);
        }
        prover.open.push((key.clone(), prover.level));
    }
    let place = prover.open.len() - usize::from(key.is_some());
    let outer = std::mem::replace(&mut prover.lowest_used, usize::MAX);
    prover.depth += 1;
    let proof = entails_keywords(prover, facts, goal, keywords);
    prover.depth -= 1;
    if let Some(key) = key {
        prover.open.truncate(place);
        let is_closed = prover.lowest_used >= place;
        match proof {
            Ok(holds) if is_closed && prover.known.len() < MAX_KNOWN && key.facts.len() <= MAX_KEY => {
                prover.known.insert(key, holds);
            }
            _ => {}
        }
        if is_closed {
            prover.lowest_used = usize::MAX;
        }
    }
    prover.lowest_used = prover.lowest_used.min(outer);
    proof
}

fn entails_keywords<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    goal: DocumentNode<'s>,
    keywords: &'s Map<String, Value>,
) -> Proof {
    for node in &facts.schemas {
        if is_same(prover, *node, goal)? {
            return Ok(true);
        }
    }
    let asserting: Vec<(&str, &Value)> = prover.documents[goal.document].asserting(keywords).collect();
    for (keyword, value) in asserting {
        if !follows(prover, facts, KeywordGoal { node: goal, keyword, value })? {
            prover.unproven.get_or_insert_with(|| keyword.to_owned());
            return Ok(false);
        }
        prover.unproven = None;
    }
    Ok(true)
}

/// Returns true if a keyword follows from the facts, or from each of their cases.
fn follows<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: KeywordGoal<'s>) -> Proof {
    prover.budget.spend(1)?;
    if is_given(prover, facts, goal)? || follows_at_once(prover, facts, goal)? {
        return Ok(true);
    }
    if prover.depth >= prover.max_depth {
        return Ok(false);
    }
    let Some((rest, cases)) = cases(prover, facts)? else { return Ok(false) };
    prover.depth += 1;
    for case in cases.iter() {
        let facts = with_case(prover, &rest, case)?;
        if !is_empty(prover, &facts, 1)? && !follows(prover, &facts, goal)? {
            prover.depth -= 1;
            return Ok(false);
        }
    }
    prover.depth -= 1;
    Ok(true)
}

fn follows_at_once<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, about: KeywordGoal<'s>) -> Proof {
    let KeywordGoal { node: goal, keyword, value } = about;
    if let Some(known) = facts.value()
        && let Some(meets) = value_meets(prover, known, keyword, value)?
    {
        return Ok(meets);
    }
    let list = value.as_array().map_or(&[][..], Vec::as_slice);
    let is_about = match keyword {
        "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" => Types::NUMBER,
        "minLength" | "maxLength" | "pattern" => Types::STRING,
        "items" | "prefixItems" | "additionalItems" | "unevaluatedItems" | "minItems" | "maxItems" | "uniqueItems"
        | "contains" => Types::ARRAY,
        "properties"
        | "patternProperties"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames"
        | "required"
        | "minProperties"
        | "maxProperties"
        | "dependencies"
        | "dependentRequired"
        | "dependentSchemas" => Types::OBJECT,
        _ => Types::ALL,
    };
    if !facts.types.meets(is_about) {
        return Ok(true);
    }
    match keyword {
        "type" => Ok(facts.types.is_within(Types::named(value))),
        "const" => is_one_of(prover, facts, std::slice::from_ref(value)),
        "enum" => is_one_of(prover, facts, list),
        "$ref" => {
            let target = value.as_str().and_then(|reference| prover.documents[goal.document].resolve(reference));
            target.map_or(Ok(false), |target| entails(prover, facts, goal.at(target)))
        }
        "allOf" => entails_each(prover, facts, goal, list),
        "anyOf" => {
            for branch in list {
                if entails(prover, facts, goal.at(branch))? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        "oneOf" => entails_one(prover, facts, goal, list),
        "not" => refutes(prover, facts, goal.at(value)),
        "then" | "else" => {
            let Some(condition) = goal.get("if").map(|condition| goal.at(condition)) else { return Ok(true) };
            prover.budget.spend(facts.size())?;
            let mut facts = facts.clone();
            match keyword {
                "then" => assume(prover, &mut facts, condition)?,
                _ => assume_not(prover, &mut facts, condition)?,
            }
            Ok(entails(prover, &facts, goal.at(value))? || is_empty(prover, &facts, 1)?)
        }
        // The keyword that they modify takes them into account.
        "if" | "minContains" | "maxContains" => Ok(true),
        _ if is_about == Types::NUMBER => keeps_number(prover, facts, keyword, value),
        _ if is_about == Types::STRING => keeps_text(prover, facts, keyword, value),
        _ if is_about == Types::ARRAY => keeps_array(prover, facts, about),
        _ if is_about == Types::OBJECT => keeps_object(prover, facts, about),
        _ => Ok(false),
    }
}

fn entails_each<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    goal: DocumentNode<'s>,
    parts: &'s [Value],
) -> Proof {
    for part in parts {
        if !entails(prover, facts, goal.at(part))? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if one branch is entailed and all others are refuted.
fn entails_one<'s>(
    prover: &mut Prover<'s, '_>,
    facts: &Facts<'s>,
    goal: DocumentNode<'s>,
    branches: &'s [Value],
) -> Proof {
    for (idx, branch) in branches.iter().enumerate() {
        if !entails(prover, facts, goal.at(branch))? {
            continue;
        }
        let mut is_only = true;
        for (other, branch) in branches.iter().enumerate() {
            is_only = is_only && (other == idx || refutes(prover, facts, goal.at(branch))?);
        }
        return Ok(is_only);
    }
    Ok(false)
}

/// Returns true if every value that the facts allow is in `allowed`.
fn is_one_of<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, allowed: &[Value]) -> Proof {
    let values = match &facts.values {
        Some(values) => Cow::Borrowed(values),
        None => match integers(facts) {
            Some(values) => Cow::Owned(values),
            None => return Ok(false),
        },
    };
    let mut texts = HashSet::new();
    for value in allowed {
        texts.insert(exact_text(value, prover.budget)?);
    }
    for value in values.iter() {
        if !texts.contains(&exact_text(value, prover.budget)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the integers that the facts allow, if there are few.
fn integers<'s>(facts: &Facts<'s>) -> Option<Vec<Cow<'s, Value>>> {
    const MAX_INTEGERS: i128 = 64;

    if facts.types != Types::INTEGER {
        return None;
    }
    let [lower, upper] = [End::Lower, End::Upper].map(|end| number::bound(facts, end));
    match (lower?.at, upper?.at) {
        (ExactNumber::Integer(lower), ExactNumber::Integer(upper))
            if upper - lower < MAX_INTEGERS && lower.abs() < 1 << 50 && upper.abs() < 1 << 50 =>
        {
            Some((lower..=upper).map(|integer| Cow::Owned(Value::from(integer as i64))).collect())
        }
        _ => None,
    }
}

/// Does the same as [`entails`] for facts about a value inside.
pub(super) fn entails_below<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: DocumentNode<'s>) -> Proof {
    prover.level += 1;
    let proof = entails(prover, facts, goal);
    prover.level -= 1;
    proof
}
