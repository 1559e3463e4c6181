//! Numbers of schemas and values, compared by value and exactly.

use std::cmp::Ordering;

use serde_json::{Number, Value};

/// A finite number as a tree holds it. 64-bit integers are exact, and so are floats.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ExactNumber {
    /// An integer, also if it is written as a float.
    Integer(i128),
    /// A number with a fraction, or beyond every 64-bit integer.
    Float(f64),
}

/// The largest float up to which every integer is representable as a float.
pub(crate) const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

impl ExactNumber {
    pub(crate) fn from_value(value: &Value) -> Option<Self> {
        value.as_number().and_then(Self::from_number)
    }

    pub(crate) fn from_number(number: &Number) -> Option<Self> {
        match integer(number) {
            Some(integer) => Some(Self::Integer(integer)),
            None => number.as_f64().filter(|float| float.is_finite()).map(Self::from_float),
        }
    }

    /// Wraps a finite float.
    pub(crate) fn from_float(float: f64) -> Self {
        // Below this bound the conversion is exact.
        if float.fract() == 0.0 && float.abs() < 1e30 { Self::Integer(float as i128) } else { Self::Float(float) }
    }

    pub(crate) fn compare(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Integer(a), Self::Integer(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.total_cmp(&b),
            (Self::Integer(a), Self::Float(b)) => compare_with_float(a, b),
            (Self::Float(a), Self::Integer(b)) => compare_with_float(b, a).reverse(),
        }
    }

    /// Returns the smallest integer that is not below the number, if the result is exact.
    pub(crate) fn ceil(self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(integer),
            Self::Float(float) => (float.abs() < MAX_EXACT).then(|| float.ceil() as i128),
        }
    }

    /// Returns the largest integer that is not above the number, if the result is exact.
    pub(crate) fn floor(self) -> Option<i128> {
        match self {
            Self::Integer(integer) => Some(integer),
            Self::Float(float) => (float.abs() < MAX_EXACT).then(|| float.floor() as i128),
        }
    }
}

/// Compares an integer with a float that has a fraction or is beyond every integer of a schema, so that they never are
/// equal.
fn compare_with_float(integer: i128, float: f64) -> Ordering {
    // The cast saturates.
    match integer.cmp(&(float.floor() as i128)) {
        Ordering::Greater => Ordering::Greater,
        _ => Ordering::Less,
    }
}

/// Returns a number as an integer, if it is stored as one.
pub(crate) fn integer(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

#[cfg(test)]
mod tests {
    use super::{ExactNumber, Ordering};

    fn number(text: &str) -> ExactNumber {
        ExactNumber::from_number(&serde_json::from_str(text).unwrap()).unwrap()
    }

    #[test]
    fn integers_and_floats_are_ordered_by_value() {
        let ascending = [
            "-1e300",
            "-9223372036854775808",
            "-1.5",
            "-1",
            "-0.5",
            "0",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "18446744073709551615",
            "1e20",
            "1.5e300",
        ];
        for (i, a) in ascending.iter().enumerate() {
            for (j, b) in ascending.iter().enumerate() {
                assert_eq!(number(a).compare(number(b)), i.cmp(&j), "{a} {b}");
            }
        }
        assert_eq!(number("1.0").compare(number("1")), Ordering::Equal);
    }
}
