//! Reading of numbers.

use std::fmt;

use serde::de::{Deserializer, Visitor};

use super::super::error::PlanError;
use super::Value;
use super::cursor::Cursor;
use super::decimal::Whole;

/// A number in the classification of `serde_json`: a 64-bit integer or a float.
#[derive(Clone, Copy)]
enum Number {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

/// A 64-bit integer.
pub(super) enum Integer {
    Unsigned(u64),
    Negative(i64),
}

/// Parses an integer in JSON notation.
pub(super) fn integer(text: &str) -> Result<Integer, PlanError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let is_json = digits.bytes().all(|byte| byte.is_ascii_digit()) && (digits.len() == 1 || !digits.starts_with('0'));
    match (is_json, text.parse(), text.parse()) {
        (true, Ok(value), _) if text == digits => Ok(Integer::Unsigned(value)),
        (true, _, Ok(value)) if value < 0 => Ok(Integer::Negative(value)),
        _ => Err(PlanError),
    }
}

/// The number of digits up to which integers and powers of ten are exact as floats.
const EXACT_DIGITS: usize = 15;

/// The number of digits up to which an integer cannot overflow 64 bits.
const MAX_DIGITS: usize = 19;

const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

impl<'de> Value<'_, '_, 'de> {
    /// Reads a plain non-negative integer that the schema accepts. Returns `None` if the number needs the slow path.
    #[inline]
    fn plain_natural(&mut self) -> Option<u64> {
        let start = self.cursor.position();
        let bytes = self.cursor.bytes();
        let (value, end) = digits(bytes, start, 0);
        let is_plain = match bytes.get(end) {
            Some(b'.' | b'e' | b'E') => false,
            _ => bytes.get(start) != Some(&b'0') || end == start + 1,
        };
        if end == start || end > start + MAX_DIGITS || !is_plain || self.node.unsigned(value).is_err() {
            return None;
        }
        self.cursor.seek(end);
        Some(value)
    }

    /// Reads the next number and checks it against the schema.
    #[inline(never)]
    fn checked_number(&mut self) -> Result<Number, PlanError> {
        let number = number(self.cursor)?;
        let allowed = match number {
            Number::Unsigned(value) => self.node.unsigned(value),
            Number::Negative(value) => self.node.negative(value),
            Number::Float(value) => self.node.float(value),
        };
        self.cursor.poison_on_err(allowed).map(|()| number)
    }

    #[inline]
    pub(super) fn number<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        if let Some(value) = self.plain_natural() {
            return visitor.visit_u64(value);
        }
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(value) => visitor.visit_f64(value),
        }
    }

    /// Reads a number for a type that requests an integer of up to 64 bits.
    #[inline]
    pub(super) fn integer<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        if let Some(value) = self.plain_natural() {
            return visitor.visit_u64(value);
        }
        let start = self.cursor.position();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(_) => match self.whole(start)? {
                Whole::Natural(value) => match u64::try_from(value) {
                    Ok(value) => visitor.visit_u64(value),
                    Err(_) => Err(self.cursor.fail()),
                },
                Whole::Negative(value) => match i64::try_from(value) {
                    Ok(value) => visitor.visit_i64(value),
                    Err(_) => Err(self.cursor.fail()),
                },
                Whole::Wider | Whole::Fraction => Err(self.cursor.fail()),
            },
        }
    }

    /// Reads a 32-bit float, which `serde_json` can be compiled to round once instead of twice.
    pub(super) fn short_float<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let text = self.cursor.rest();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(_) => {
                let text = &text[..text.len() - self.cursor.rest().len()];
                match serde_json::Deserializer::from_slice(text).deserialize_f32(Sort) {
                    Ok(Number::Float(value)) => visitor.visit_f64(value),
                    _ => Err(self.cursor.fail()),
                }
            }
        }
    }

    /// Reads an integer of up to 128 bits exactly.
    pub(super) fn wide_integer<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let start = self.cursor.position();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_i128(value.into()),
            Number::Negative(value) => visitor.visit_i128(value.into()),
            Number::Float(_) => match self.whole(start)? {
                Whole::Natural(value) => match i128::try_from(value) {
                    Ok(value) => visitor.visit_i128(value),
                    Err(_) => Err(self.cursor.fail()),
                },
                Whole::Negative(value) => visitor.visit_i128(value),
                Whole::Wider | Whole::Fraction => Err(self.cursor.fail()),
            },
        }
    }

    pub(super) fn wide_natural<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let start = self.cursor.position();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u128(value.into()),
            Number::Negative(_) => Err(self.cursor.fail()),
            Number::Float(_) => match self.whole(start)? {
                Whole::Natural(value) => visitor.visit_u128(value),
                Whole::Negative(_) | Whole::Wider | Whole::Fraction => Err(self.cursor.fail()),
            },
        }
    }

    /// Returns the integer that was read since `start`, if floats may be read as integers.
    #[cold]
    fn whole(&mut self, start: usize) -> Result<Whole, PlanError> {
        let read = self.cursor.read_since(start).trim_ascii_start();
        let (Some(whole), Ok(text)) = (&mut self.cursor.whole, str::from_utf8(read)) else {
            return Err(self.cursor.fail());
        };
        if text != "-0" {
            whole.push(start);
        }
        Ok(Whole::read(text))
    }
}

/// Parses a number. Unusual ones are parsed by `serde_json`, so that both round equally.
fn number(cursor: &mut Cursor<'_, '_>) -> Result<Number, PlanError> {
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
