//! The keywords that look at a value alone, without other schemas.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};

use serde_json::{Number, Value};

use super::number::is_multiple;
use super::rules::Rule;
use crate::equality;
use crate::failure::{FailureKind, TYPE_NAMES};
use crate::number::ExactNumber;
use crate::plan::Pattern;
use crate::types::Types;

/// Returns the keyword as a failure if the value does not satisfy it.
pub(super) fn failed<'v>(
    rule: Rule,
    value: &'v Value,
    instance: &Value,
    patterns: &HashMap<String, Pattern>,
) -> Option<FailureKind<'v>> {
    match (rule, value, instance) {
        (Rule::Type, names, _) => {
            let is_allowed = Types::named(names).meets(Types::from_value(instance));
            (!is_allowed).then(|| FailureKind::Type(listed_types(names)))
        }
        (Rule::Const, constant, _) => {
            (!equality::equal(constant, instance)).then_some(FailureKind::Const(Cow::Borrowed(constant)))
        }
        (Rule::Minimum, Value::Number(limit), Value::Number(number)) => {
            compare(number, limit)?.is_lt().then_some(FailureKind::Minimum(Cow::Borrowed(value)))
        }
        (Rule::Maximum, Value::Number(limit), Value::Number(number)) => {
            compare(number, limit)?.is_gt().then_some(FailureKind::Maximum(Cow::Borrowed(value)))
        }
        (Rule::ExclusiveMinimum, Value::Number(limit), Value::Number(number)) => {
            compare(number, limit)?.is_le().then_some(FailureKind::ExclusiveMinimum(Cow::Borrowed(value)))
        }
        (Rule::ExclusiveMaximum, Value::Number(limit), Value::Number(number)) => {
            compare(number, limit)?.is_ge().then_some(FailureKind::ExclusiveMaximum(Cow::Borrowed(value)))
        }
        (Rule::MultipleOf, Value::Number(divisor), Value::Number(number)) => {
            (!is_multiple(number, divisor)).then(|| FailureKind::MultipleOf(divisor.as_f64().unwrap_or_default()))
        }
        (Rule::MinLength, limit, Value::String(text)) => below(text.chars().count(), limit).map(FailureKind::MinLength),
        (Rule::MaxLength, limit, Value::String(text)) => above(text.chars().count(), limit).map(FailureKind::MaxLength),
        (Rule::Pattern, Value::String(pattern), Value::String(text)) => {
            let is_match = patterns.get(pattern).is_some_and(|compiled| compiled.is_match(text));
            (!is_match).then_some(FailureKind::Pattern(Cow::Borrowed(pattern)))
        }
        (Rule::MinItems, limit, Value::Array(items)) => below(items.len(), limit).map(FailureKind::MinItems),
        (Rule::MaxItems, limit, Value::Array(items)) => above(items.len(), limit).map(FailureKind::MaxItems),
        (Rule::UniqueItems, Value::Bool(true), Value::Array(items)) => {
            (!are_unique(items)).then_some(FailureKind::UniqueItems)
        }
        (Rule::MinProperties, limit, Value::Object(object)) => {
            below(object.len(), limit).map(FailureKind::MinProperties)
        }
        (Rule::MaxProperties, limit, Value::Object(object)) => {
            above(object.len(), limit).map(FailureKind::MaxProperties)
        }
        _ => None,
    }
}

fn compare(number: &Number, limit: &Number) -> Option<Ordering> {
    Some(ExactNumber::from_number(number)?.compare(ExactNumber::from_number(limit)?))
}

fn listed_types(names: &Value) -> Vec<&'static str> {
    let is_listed = |name: &&str| match names {
        Value::Array(names) => names.iter().any(|other| other == name),
        only => only == name,
    };
    TYPE_NAMES.into_iter().filter(is_listed).collect()
}

/// Returns the limit if `n` is below it.
fn below(n: usize, limit: &Value) -> Option<u64> {
    limit.as_u64().filter(|limit| (n as u64) < *limit)
}

/// Returns the limit if `n` is above it.
fn above(n: usize, limit: &Value) -> Option<u64> {
    limit.as_u64().filter(|limit| (n as u64) > *limit)
}

fn are_unique(items: &[Value]) -> bool {
    let mut seen = HashSet::with_capacity(items.len());
    items.iter().all(|item| {
        let mut text = String::new();
        equality::write_canonical(item, &mut text);
        seen.insert(text)
    })
}
