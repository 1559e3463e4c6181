//! The goals `minimum`, `maximum` and `multipleOf`, with their facts compared as exact numbers.

use std::cmp::Ordering;

use serde_json::Value;

use super::facts::{DocumentNode, Facts};
use crate::number::{ExactNumber, MAX_EXACT};
use crate::types::Types;

/// A bound of numbers. The bound itself is excluded if `is_strict` is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) at: ExactNumber,
    pub(super) is_strict: bool,
}

/// The lower or upper end of a range of numbers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Lower,
    Upper,
}

impl End {
    /// Orders two numbers so that the tighter bound is greater.
    fn compare(self, a: ExactNumber, b: ExactNumber) -> Ordering {
        match self {
            End::Lower => a.compare(b),
            End::Upper => b.compare(a),
        }
    }

    fn keywords(self) -> [&'static str; 2] {
        match self {
            End::Lower => ["minimum", "exclusiveMinimum"],
            End::Upper => ["maximum", "exclusiveMaximum"],
        }
    }

    /// Returns the outermost integer within the bound.
    fn integer(self, bound: Bound) -> Option<Bound> {
        let at = match (self, bound.is_strict) {
            (End::Lower, false) => bound.at.ceil()?,
            (End::Lower, true) => bound.at.floor()? + 1,
            (End::Upper, false) => bound.at.floor()?,
            (End::Upper, true) => bound.at.ceil()? - 1,
        };
        Some(Bound { at: ExactNumber::Integer(at), is_strict: false })
    }
}

/// Returns the tightest bound of the facts at one end.
pub(super) fn bound(facts: &Facts<'_>, end: End) -> Option<Bound> {
    let is_integer = facts.types.and(Types::NUMBER) == Types::INTEGER;
    let bounds = facts.schemas.iter().flat_map(|node| bounds_of(*node, end));
    let bounds = bounds.map(|bound| if is_integer { end.integer(bound).unwrap_or(bound) } else { bound });
    bounds.reduce(|a, b| if covers(end, a, b) { b } else { a })
}

fn bounds_of(node: DocumentNode<'_>, end: End) -> impl Iterator<Item = Bound> {
    let [inclusive, strict] = end.keywords().map(|keyword| node.get(keyword).and_then(ExactNumber::from_value));
    let inclusive = inclusive.map(|at| Bound { at, is_strict: false });
    inclusive.into_iter().chain(strict.map(|at| Bound { at, is_strict: true }))
}

/// Returns true if the numbers within `tight` are within `wide`.
fn covers(end: End, wide: Bound, tight: Bound) -> bool {
    match end.compare(tight.at, wide.at) {
        Ordering::Greater => true,
        Ordering::Equal => tight.is_strict || !wide.is_strict,
        Ordering::Less => false,
    }
}

/// Returns true if the facts keep numbers within a bound.
pub(super) fn keeps_within(facts: &Facts<'_>, end: End, wide: Bound) -> bool {
    let Some(tight) = bound(facts, end) else { return false };
    let is_integer = facts.types.and(Types::NUMBER) == Types::INTEGER;
    let wide_integer = if is_integer { end.integer(wide) } else { None };
    covers(end, wide, tight) || wide_integer.is_some_and(|wide| covers(end, wide, tight))
}

/// Returns true if no number is within both bounds.
pub(super) fn excludes_all(facts: &Facts<'_>) -> bool {
    let (Some(lower), Some(upper)) = (bound(facts, End::Lower), bound(facts, End::Upper)) else { return false };
    match lower.at.compare(upper.at) {
        Ordering::Less => false,
        Ordering::Equal => lower.is_strict || upper.is_strict,
        Ordering::Greater => true,
    }
}

/// Returns true if every multiple of `given` is a multiple of `wanted`.
pub(super) fn is_multiple(given: &Value, wanted: &Value) -> bool {
    let exact = |value| match ExactNumber::from_value(value) {
        Some(ExactNumber::Integer(integer)) if integer > 0 && integer <= MAX_EXACT as i128 => Some(integer),
        _ => None,
    };
    match (exact(given), exact(wanted)) {
        (Some(given), Some(wanted)) => given % wanted == 0,
        _ => given == wanted,
    }
}
