//! Comparison of schemas by their asserting keywords, and of whole documents by their text.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::super::budget::{Budget, Undecided};
use super::facts::{DocumentNode, Facts, KeywordGoal};
use super::leaf::exact_text;
use super::{Proof, Prover};
use crate::equality;
use crate::walk::{self, Holds};

/// Returns true if two schemas have the same asserting keywords with the same values. References are followed.
pub(super) fn is_same<'s>(prover: &mut Prover<'s, '_>, a: DocumentNode<'s>, b: DocumentNode<'s>) -> Proof {
    is_same_within(prover, a, b, &mut Vec::new())
}

fn is_same_within<'s>(
    prover: &mut Prover<'s, '_>,
    a: DocumentNode<'s>,
    b: DocumentNode<'s>,
    open: &mut Vec<(*const Value, *const Value)>,
) -> Proof {
    prover.budget.spend(1)?;
    if std::ptr::eq(a.schema, b.schema) {
        return Ok(true);
    }
    let (x, y) = match (a.schema, b.schema) {
        (Value::Object(x), Value::Object(y)) => (x, y),
        (a, b) => return Ok(a == b),
    };
    let [of_a, of_b] = [prover.documents[a.document], prover.documents[b.document]];
    if of_a.dialect != of_b.dialect {
        return Ok(false);
    }
    prover.budget.spend((x.len() + y.len()) as u64)?;
    let asserted: Vec<(&str, &Value)> = of_a.asserting(x).collect();
    let others: HashMap<&str, &Value> = of_b.asserting(y).collect();
    if asserted.len() != others.len() {
        return Ok(false);
    }
    for (keyword, value) in asserted {
        let Some(other) = others.get(keyword).copied() else { return Ok(false) };
        let is_same = is_same_value(prover, a, b, (keyword, value, other), open)?;
        if !is_same {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns true if a keyword has the same value in two schemas of one dialect.
fn is_same_value<'s>(
    prover: &mut Prover<'s, '_>,
    a: DocumentNode<'s>,
    b: DocumentNode<'s>,
    (keyword, value, other): (&str, &'s Value, &'s Value),
    open: &mut Vec<(*const Value, *const Value)>,
) -> Proof {
    Ok(match (walk::holds(keyword, value), value, other) {
        _ if keyword == "$ref" => is_same_target(prover, a, b, value, other, open)?,
        (Holds::One, value, other) => is_same_within(prover, a.at(value), b.at(other), open)?,
        (Holds::List, Value::Array(values), Value::Array(others)) => {
            let mut is_same = values.len() == others.len();
            for (value, other) in values.iter().zip(others) {
                is_same = is_same && is_same_within(prover, a.at(value), b.at(other), open)?;
            }
            is_same
        }
        (Holds::Named, Value::Object(values), Value::Object(others)) => {
            let mut is_same = values.len() == others.len();
            for (name, value) in values {
                is_same = is_same
                    && match others.get(name) {
                        Some(other) => is_same_within(prover, a.at(value), b.at(other), open)?,
                        None => false,
                    };
            }
            is_same
        }
        (Holds::None, Value::Array(values), Value::Array(others))
            if matches!(keyword, "enum" | "required" | "type") =>
        {
            texts(values, prover.budget)? == texts(others, prover.budget)?
        }
        (Holds::None, value, other) => exact_text(value, prover.budget)? == exact_text(other, prover.budget)?,
        _ => false,
    })
}

/// Returns the values as a set.
fn texts(values: &[Value], budget: &Budget) -> Result<HashSet<String>, Undecided> {
    values.iter().map(|value| exact_text(value, budget)).collect()
}

/// Returns true if a schema of the facts has the keyword with the same value, provided that the keyword does not
/// depend on the keywords beside it.
pub(super) fn is_given<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, goal: KeywordGoal<'s>) -> Proof {
    let KeywordGoal { node: goal, keyword, value } = goal;
    if walk::depends_on_siblings(keyword) || matches!(keyword, "additionalItems" | "$dynamicRef") {
        return Ok(false);
    }
    for node in &facts.schemas {
        let is_of_dialect = prover.documents[node.document].dialect == prover.documents[goal.document].dialect;
        if let Some(given) = node.get(keyword).filter(|_| is_of_dialect)
            && is_same_value(prover, *node, goal, (keyword, given, value), &mut Vec::new())?
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns true if two references resolve to the same schema. Targets that are already being compared are assumed
/// to be the same; a difference between them is found by that comparison.
fn is_same_target<'s>(
    prover: &mut Prover<'s, '_>,
    a: DocumentNode<'s>,
    b: DocumentNode<'s>,
    value: &'s Value,
    other: &'s Value,
    open: &mut Vec<(*const Value, *const Value)>,
) -> Proof {
    let target = |node: DocumentNode<'s>, reference: &Value| {
        let target = prover.documents[node.document].resolve(reference.as_str()?)?;
        Some(node.at(target))
    };
    let (Some(a), Some(b)) = (target(a, value), target(b, other)) else {
        // The meta-schema is the only target outside of the documents.
        return Ok(value == other && value.as_str().is_some_and(|reference| !reference.starts_with('#')));
    };
    let pair = (std::ptr::from_ref(a.schema), std::ptr::from_ref(b.schema));
    prover.budget.spend(open.len() as u64)?;
    if open.contains(&pair) {
        return Ok(true);
    }
    open.push(pair);
    let is_same = is_same_within(prover, a, b, open)?;
    // The pair stays in `open`: if the schemas differ, the whole comparison fails anyway.
    Ok(is_same)
}

/// Returns true if two documents have the same text except for annotations.
pub(super) fn is_same_text(a: &Value, b: &Value, budget: &Budget) -> Result<bool, Undecided> {
    fn without_annotations(schema: &Value, budget: &Budget) -> Result<Value, Undecided> {
        budget.spend(1)?;
        let Value::Object(keywords) = schema else { return Ok(schema.clone()) };
        let mut kept = serde_json::Map::new();
        // A reference cannot resolve to a string, but it can resolve to any other annotation.
        let is_text = |keyword: &str, value: &Value| walk::is_annotation(keyword) && value.is_string();
        for (keyword, value) in keywords.iter().filter(|(keyword, value)| !is_text(keyword, value)) {
            let mut stop = None;
            let copy = walk::rebuild(keyword, value, |sub| match without_annotations(sub, budget) {
                Ok(copy) => copy,
                Err(error) => {
                    stop = Some(error);
                    Value::Null
                }
            });
            if let Some(stop) = stop {
                return Err(stop);
            }
            kept.insert(keyword.clone(), copy);
        }
        Ok(kept.into())
    }
    Ok(equality::equal(&without_annotations(a, budget)?, &without_annotations(b, budget)?))
}
