//! Exact numbers in JSON text.

use std::fmt;

use serde::de::{Deserializer, Visitor};
use serde_json::Number;

/// An integer of up to 128 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Whole {
    is_negative: bool,
    magnitude: u128,
}

impl Whole {
    /// Parses the JSON text of a number, in any notation: `3`, `3.0`, `30e-1`. Returns `None` if it is not such an
    /// integer.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |text| (true, text));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (integer, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = || integer.bytes().chain(fraction.bytes()).map(|digit| digit.wrapping_sub(b'0'));
        let Some(first) = digits().position(|digit| digit != 0) else {
            return Some(Self { is_negative: false, magnitude: 0 });
        };
        let n_digits = integer.len() + fraction.len() - digits().rev().position(|digit| digit != 0).unwrap_or(0);
        // An exponent with so many digits moves the point beyond any digit.
        let exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') { i64::MIN / 2 } else { i64::MAX / 2 });
        let point = exponent.saturating_add(integer.len() as i64);
        // A fraction, or an integer that needs more bits.
        if point < n_digits as i64 || point - first as i64 > MAX_EXACT_DIGITS {
            return None;
        }
        let significant = digits().take(n_digits).skip(first).try_fold(0_u128, append);
        let magnitude = (n_digits as i64..point).try_fold(significant?, |value, _| append(value, 0))?;
        Some(Self { is_negative, magnitude })
    }

    pub(super) fn to_u128(self) -> Option<u128> {
        (!self.is_negative).then_some(self.magnitude)
    }

    pub(super) fn to_i128(self) -> Option<i128> {
        match self.is_negative {
            true => 0_i128.checked_sub_unsigned(self.magnitude),
            false => self.magnitude.try_into().ok(),
        }
    }

    /// Returns the integer as a number of a tree, if it fits.
    pub(crate) fn to_number(self) -> Option<Number> {
        let integer = self.to_i128()?;
        u64::try_from(integer).map(Number::from).or_else(|_| i64::try_from(integer).map(Number::from)).ok()
    }
}

/// The number of digits of the largest 128-bit integer.
const MAX_EXACT_DIGITS: i64 = 39;

fn append(value: u128, digit: u8) -> Option<u128> {
    value.checked_mul(10)?.checked_add(digit.into())
}

/// A number as a tree stores it: a 64-bit integer or a float.
pub(crate) struct HeldNumber {
    pub(crate) number: Number,
    /// True if the text has another value: a different integer, or a fraction that is lost.
    pub(crate) is_rounded: bool,
    /// True if the number could change when it is written and read again, or is an integer that would be written as a
    /// float.
    pub(crate) is_fragile: bool,
}

impl HeldNumber {
    /// Returns true if the text of the number is kept beside the tree.
    pub(crate) fn needs_text(&self) -> bool {
        self.is_rounded || self.is_fragile
    }

    /// Parses the text of a number. Returns `None` if it is not JSON, or too large for a float.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let exactly = |number| Some(Self { number, is_rounded: false, is_fragile: false });
        if let Some(number) = integer(text) {
            return exactly(number);
        }
        let float = float(text)?;
        let number = Number::from_f64(float)?;
        if float.fract() == 0.0 {
            let whole = Whole::read(text);
            let is_rounded =
                whole.is_none_or(|whole| float.abs() >= 2_f64.powi(128) || float.abs() as u128 != whole.magnitude);
            let is_respelled = integer_digits(text).is_some() || Whole::read(&number.to_string()) != whole;
            let is_fragile = is_rounded || is_respelled;
            return Some(Self { number, is_rounded, is_fragile });
        }
        // A float keeps up to 15 digits.
        let is_short = text.len() <= 16 && !text.contains(['e', 'E']);
        let is_fragile = !is_short && self::float(&number.to_string()).map(f64::to_bits) != Some(float.to_bits());
        Some(Self { number, is_rounded: false, is_fragile })
    }
}

/// Returns the value of text that is written as an integer, if a tree can store it. Minus zero is a float.
fn integer(text: &str) -> Option<Number> {
    let digits = integer_digits(text)?;
    if (digits.len() > 1 && digits.starts_with('0')) || text == "-0" {
        return None;
    }
    text.parse::<u64>().map(Number::from).or_else(|_| text.parse::<i64>().map(Number::from)).ok()
}

/// Returns the digits of text that is written as an integer.
fn integer_digits(text: &str) -> Option<&str> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_integer = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_integer.then_some(digits)
}

/// Parses a float with `serde_json`, since all parsers must round equally.
fn float(text: &str) -> Option<f64> {
    let mut reader = serde_json::Deserializer::from_str(text);
    let float = reader.deserialize_f64(Float).ok()?;
    reader.end().ok().map(|()| float)
}

struct Float;

impl Visitor<'_> for Float {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, value: u64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_i64<E>(self, value: i64) -> Result<f64, E> {
        Ok(value as f64)
    }

    fn visit_f64<E>(self, value: f64) -> Result<f64, E> {
        Ok(value)
    }
}
