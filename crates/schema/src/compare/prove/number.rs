//! The goals `minimum`, `maximum` and `multipleOf`, with their facts compared as exact numbers.

use std::cmp::Ordering;

use serde_json::Value;

use super::facts::{Facts, Node};
use crate::types::Types;

/// A number of a schema. 64-bit integers are exact.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

/// The largest float up to which every integer is representable as a float.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

/// A bound of numbers. The bound itself is excluded if `is_strict` is set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bound {
    pub(super) at: Number,
    pub(super) is_strict: bool,
}

impl Number {
    pub(super) fn from_value(value: &Value) -> Option<Self> {
        let Value::Number(number) = value else { return None };
        if let Some(integer) = number.as_u64() {
            return Some(Self::Integer(integer.into()));
        }
        if let Some(integer) = number.as_i64() {
            return Some(Self::Integer(integer.into()));
        }
        let float = number.as_f64().filter(|float| float.is_finite())?;
        // Below this bound the conversion is exact.
        Some(if float.fract() == 0.0 && float.abs() < 1e30 { Self::Integer(float as i128) } else { Self::Float(float) })
    }

    pub(super) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => compare_mixed(a, b),
            (Self::Float(a), Self::Integer(b)) => compare_mixed(b, a).reverse(),
        }
    }

    /// Returns the smallest integer that is not below the number, if the result is exact.
    fn ceil(self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(integer),
            Self::Float(float) => (float.abs() < MAX_EXACT).then(|| float.ceil() as i128),
        }
    }

    fn floor(self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(integer),
            Self::Float(float) => (float.abs() < MAX_EXACT).then(|| float.floor() as i128),
        }
    }
}

/// Compares an integer with a float that has a fraction or exceeds every integer of a schema.
fn compare_mixed(integer: i128, float: f64) -> Ordering {
    if float.abs() >= 1e30 {
        return if float > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    match integer.cmp(&(float.floor() as i128)) {
        Ordering::Greater => Ordering::Greater,
        _ => Ordering::Less,
    }
}

/// The lower or upper end of a range of numbers.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum End {
    Lower,
    Upper,
}

impl End {
    /// Orders two numbers so that the tighter bound is greater.
    fn compare(self, a: Number, b: Number) -> Ordering {
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
        Some(Bound { at: Number::Integer(at), is_strict: false })
    }
}

/// Returns the tightest bound of the facts at one end.
pub(super) fn bound(facts: &Facts<'_>, end: End) -> Option<Bound> {
    let is_integer = facts.types.and(Types::NUMBER) == Types::INTEGER;
    let bounds = facts.schemas.iter().flat_map(|node| bounds_of(*node, end));
    let bounds = bounds.map(|bound| if is_integer { end.integer(bound).unwrap_or(bound) } else { bound });
    bounds.reduce(|a, b| if covers(end, a, b) { b } else { a })
}

fn bounds_of(node: Node<'_>, end: End) -> impl Iterator<Item = Bound> {
    let [inclusive, strict] = end.keywords().map(|keyword| node.get(keyword).and_then(Number::from_value));
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
    let exact = |value| match Number::from_value(value) {
        Some(Number::Integer(integer)) if integer > 0 && integer <= MAX_EXACT as i128 => Some(integer),
        _ => None,
    };
    match (exact(given), exact(wanted)) {
        (Some(given), Some(wanted)) => given % wanted == 0,
        _ => given == wanted,
    }
}
