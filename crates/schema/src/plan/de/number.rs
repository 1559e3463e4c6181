//! Parsing of numbers.

use std::fmt;

use serde::de::{Deserializer, Visitor};

use super::super::node::Plan;
use super::super::plan_error::PlanError;
use super::cursor::Cursor;
use super::decimal::Whole;

/// A number in the classification of `serde_json`: a 64-bit integer or a float.
#[derive(Clone, Copy)]
pub(super) enum Number {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

/// Parses a key that is a number in JSON notation.
pub(super) fn of_key(text: &str) -> Result<Number, PlanError> {
    let mut cursor = Cursor::new(Plan::anything(), text.as_bytes())?;
    let number = number(&mut cursor)?;
    let starts_there = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
    if starts_there && cursor.is_at_end() { Ok(number) } else { Err(PlanError) }
}

/// Parses a key that is an integer of up to 128 bits in JSON notation.
pub(super) fn wide_key(text: &str) -> Option<Whole> {
    of_key(text).ok().filter(|_| !text.contains(['.', 'e', 'E'])).and_then(|_| Whole::read(text))
}

/// The number of digits up to which integers and powers of ten are exact as floats.
const EXACT_DIGITS: usize = 15;

/// The number of digits up to which an integer cannot overflow 64 bits.
const MAX_DIGITS: usize = 19;

const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Parses a non-negative integer that cannot overflow 64 bits, and returns it with its end. Returns `None` for every
/// other number.
#[inline]
pub(super) fn natural(bytes: &[u8], start: usize) -> Option<(u64, usize)> {
    let (value, end) = digits(bytes, start, 0);
    let is_integer = match bytes.get(end) {
        Some(b'.' | b'e' | b'E') => false,
        _ => bytes.get(start) != Some(&b'0') || end == start + 1,
    };
    (is_integer && end != start && end <= start + MAX_DIGITS).then_some((value, end))
}

/// Parses a 32-bit float with `serde_json`, which can be compiled to round it once instead of twice.
pub(super) fn short_float(text: &[u8]) -> Option<f64> {
    match serde_json::Deserializer::from_slice(text).deserialize_f32(Sort) {
        Ok(Number::Float(value)) => Some(value),
        _ => None,
    }
}

/// Parses a number. Unusual ones are parsed by `serde_json`, so that both round equally.
pub(super) fn number(cursor: &mut Cursor<'_, '_>) -> Result<Number, PlanError> {
    let is_negative = cursor.peek() == b'-';
    let bytes = cursor.bytes();
    let start = cursor.position() + usize::from(is_negative);
    let (mut value, mut end) = digits(bytes, start, 0);
    if end == start || (end > start + 1 && bytes[start] == b'0') {
        return Err(cursor.fail());
    }
    let whole = end;
    if bytes.get(end) == Some(&b'.') {
        (value, end) = digits(bytes, end + 1, value);
        let n_fraction = end - whole - 1;
        let n_digits = end - start - 1;
        if n_fraction == 0 || n_digits > EXACT_DIGITS || matches!(bytes.get(end), Some(b'e' | b'E')) {
            return parse_with_serde_json(cursor);
        }
        cursor.seek(end);
        let float = value as f64 / POWERS_OF_TEN[n_fraction];
        return Ok(Number::Float(if is_negative { -float } else { float }));
    }
    if end > start + MAX_DIGITS || matches!(bytes.get(end), Some(b'e' | b'E')) {
        return parse_with_serde_json(cursor);
    }
    let number = match is_negative {
        false => Number::Unsigned(value),
        // Minus zero is a float, and so are integers below the minimum.
        true if value == 0 || value > 1 << 63 => return parse_with_serde_json(cursor),
        true => Number::Negative((value as i64).wrapping_neg()),
    };
    cursor.seek(end);
    Ok(number)
}

/// Appends the digits at `start` to `value`, and returns the result and the end of the digits. The result is
/// meaningless for more than [`MAX_DIGITS`] digits.
#[inline]
fn digits(bytes: &[u8], start: usize, mut value: u64) -> (u64, usize) {
    let mut end = start;
    while let Some(byte) = bytes.get(end) {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        value = value.wrapping_mul(10).wrapping_add(u64::from(digit));
        end += 1;
    }
    (value, end)
}

#[inline(never)]
fn parse_with_serde_json(cursor: &mut Cursor<'_, '_>) -> Result<Number, PlanError> {
    let number = cursor.number_text();
    let mut text = serde_json::Deserializer::from_slice(number);
    match (text.deserialize_f64(Sort), text.end()) {
        (Ok(read), Ok(())) => {
            cursor.skip(number.len());
            Ok(read)
        }
        _ => Err(cursor.fail()),
    }
}

/// A visitor that classifies a number as `serde_json` does.
struct Sort;

impl Visitor<'_> for Sort {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number")
    }

    fn visit_u64<E>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Unsigned(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Negative(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, natural, of_key};

    #[test]
    fn a_key_is_a_number_in_the_notation_of_json() {
        for (text, value) in [
            ("0", 0),
            ("18446744073709551615", i128::from(u64::MAX)),
            ("-1", -1),
            ("-9223372036854775808", i128::from(i64::MIN)),
        ] {
            match of_key(text).unwrap() {
                Number::Unsigned(read) => assert_eq!(i128::from(read), value),
                Number::Negative(read) => assert_eq!(i128::from(read), value),
                Number::Float(_) => panic!("{text}"),
            }
        }
        for text in ["-0", "1.0", "1e2", "18446744073709551616", "-9223372036854775809"] {
            assert!(matches!(of_key(text), Ok(Number::Float(_))), "{text}");
        }
        for text in ["", "-", "+1", "01", "-01", " 1", "1 ", "1.", "x"] {
            assert!(of_key(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_natural_number_ends_before_the_next_character() {
        for (text, read) in [
            ("0", Some((0, 1))),
            ("42,", Some((42, 2))),
            ("7]", Some((7, 1))),
            ("9999999999999999999 ", Some((9_999_999_999_999_999_999, 19))),
            ("10000000000000000000", None),
            ("01", None),
            ("-1", None),
            ("1.5", None),
            ("1e3", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(natural(text.as_bytes(), 0), read, "{text}");
        }
    }
}
