//! Goals of keywords without subschemas: all of them for a known value, and those about types, lengths and sizes otherwise.
//! Those about numbers are in `number`.

use std::collections::HashSet;

use serde_json::Value;

use super::super::budget::{Budget, Undecided};
use super::facts::Facts;
use super::number::{self, Bound, End};
use super::{Proof, Prover};
use crate::equality;
use crate::number::ExactNumber;
use crate::types::Types;

/// Returns a text that two values share only if every validator considers them equal.
///
/// A validator may compare an integer with a float as floats, and above 2⁵³ several integers convert to the same float.
/// Therefore a large float is represented by its original text.
pub(super) fn exact_text(value: &Value, budget: &Budget) -> Result<String, Undecided> {
    let mut text = String::new();
    equality::write_canonical(value, &mut text);
    budget.spend(1 + text.len() as u64 / 16)?;
    if has_large_number(value) {
        text.push_str(&value.to_string());
    }
    Ok(text)
}

/// Returns true if a value contains a number so large that validators may consider it equal to another one.
pub(super) fn has_large_number(value: &Value) -> bool {
    match value {
        Value::Number(number) => number.as_f64().is_none_or(|float| float.abs() >= 9e15),
        Value::Array(items) => items.iter().any(has_large_number),
        Value::Object(object) => object.values().any(has_large_number),
        _ => false,
    }
}

/// Returns the value of a keyword that limits a size.
pub(super) fn count(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| value.as_f64().filter(|float| *float >= 0.0).map(|float| float as u64))
}

/// Returns true if a value satisfies a keyword without subschemas, or `None` if that cannot be decided from the
/// value alone.
pub(super) fn value_meets<'s>(
    prover: &mut Prover<'s, '_>,
    value: &Value,
    keyword: &str,
    limit: &Value,
) -> Result<Option<bool>, Undecided> {
    prover.budget.spend(1)?;
    let size = |is_large: fn(u64, u64) -> bool, n: usize| {
        let limit = count(Some(limit))?;
        Some(is_large(n as u64, limit))
    };
    let number = |end: End, is_strict: bool| {
        let (at, wide) = (ExactNumber::from_value(value)?, ExactNumber::from_value(limit)?);
        let ordering = at.compare(wide);
        let is_within = if end == End::Lower { ordering.is_gt() } else { ordering.is_lt() };
        Some(is_within || ordering.is_eq() && !is_strict)
    };
    let is_least = |n: u64, limit: u64| n >= limit;
    let is_most = |n: u64, limit: u64| n <= limit;
    Ok(match (keyword, value) {
        ("type", value) => Some(Types::from_value(value).is_within(Types::named(limit))),
        ("const", value) => match exact_text(value, prover.budget)? == exact_text(limit, prover.budget)? {
            true => Some(true),
            false => (!has_large_number(value) && !has_large_number(limit)).then_some(false),
        },
        ("minimum", Value::Number(_)) => number(End::Lower, false),
        ("exclusiveMinimum", Value::Number(_)) => number(End::Lower, true),
        ("maximum", Value::Number(_)) => number(End::Upper, false),
        ("exclusiveMaximum", Value::Number(_)) => number(End::Upper, true),
        // Divisibility can be proven here, but not refuted.
        ("multipleOf", Value::Number(_)) => number::is_multiple(value, limit).then_some(true),
        ("minLength", Value::String(text)) => size(is_least, text.chars().count()),
        ("maxLength", Value::String(text)) => size(is_most, text.chars().count()),
        ("pattern", Value::String(text)) => match limit.as_str() {
            Some(pattern) => Some(prover.matchers.is_match(pattern, text, prover.budget)?),
            None => None,
        },
        ("minItems", Value::Array(items)) => size(is_least, items.len()),
        ("maxItems", Value::Array(items)) => size(is_most, items.len()),
        ("uniqueItems", Value::Array(items)) => {
            let mut texts = HashSet::new();
            let mut is_unique = true;
            for item in items {
                is_unique &= texts.insert(exact_text(item, prover.budget)?);
            }
            match (*limit == true, is_unique) {
                (false, _) => Some(true),
                (true, false) => Some(false),
                (true, true) => (!has_large_number(value)).then_some(true),
            }
        }
        ("minProperties", Value::Object(object)) => size(is_least, object.len()),
        ("maxProperties", Value::Object(object)) => size(is_most, object.len()),
        ("required", Value::Object(object)) => {
            let mut names = limit.as_array().into_iter().flatten().filter_map(Value::as_str);
            Some(names.all(|name| object.contains_key(name)))
        }
        (
            "minimum" | "exclusiveMinimum" | "maximum" | "exclusiveMaximum" | "multipleOf" | "minLength" | "maxLength"
            | "pattern" | "minItems" | "maxItems" | "uniqueItems" | "minProperties" | "maxProperties" | "required",
            _,
        ) => Some(true),
        _ => None,
    })
}

/// Returns true if the facts keep numbers within the limit of a keyword.
pub(super) fn keeps_number<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, keyword: &str, limit: &Value) -> Proof {
    let bound = |is_strict| ExactNumber::from_value(limit).map(|at| Bound { at, is_strict });
    let within = |end, bound: Option<Bound>| bound.is_some_and(|bound| number::keeps_within(facts, end, bound));
    prover.budget.spend(facts.schemas.len() as u64)?;
    Ok(match keyword {
        "minimum" => within(End::Lower, bound(false)),
        "exclusiveMinimum" => within(End::Lower, bound(true)),
        "maximum" => within(End::Upper, bound(false)),
        "exclusiveMaximum" => within(End::Upper, bound(true)),
        _ => {
            let is_integer = facts.types.and(Types::NUMBER) == Types::INTEGER;
            let divides = |given: &Value| number::is_multiple(given, limit);
            is_integer && matches!(ExactNumber::from_value(limit), Some(ExactNumber::Integer(1)))
                || facts.schemas.iter().filter_map(|node| node.get("multipleOf")).any(divides)
        }
    })
}

/// Returns true if the facts keep strings within the limit of a keyword.
pub(super) fn keeps_text<'s>(prover: &mut Prover<'s, '_>, facts: &Facts<'s>, keyword: &str, limit: &Value) -> Proof {
    prover.budget.spend(facts.schemas.len() as u64)?;
    let counts = facts.schemas.iter().filter_map(|node| count(node.get(keyword)));
    Ok(match (keyword, count(Some(limit))) {
        ("minLength", Some(limit)) => counts.max().unwrap_or(0) >= limit,
        ("maxLength", Some(limit)) => counts.min().is_some_and(|most| most <= limit),
        _ => {
            facts.schemas.iter().any(|node| node.get("pattern") == Some(limit))
                || facts.patterns.iter().any(|pattern| limit == pattern)
        }
    })
}
