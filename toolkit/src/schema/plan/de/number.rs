//! Reading numbers.

use std::fmt;
use std::sync::LazyLock;

use serde::de::{Deserializer, Visitor};

use super::super::Refused;
use super::Value;
use super::cursor::Cursor;

/// A number as `serde_json` sorts them: an integer within 64 bits, or a float.
#[derive(Clone, Copy)]
enum Number {
    Unsigned(u64),
    Negative(i64),
    Float(f64),
}

/// With this many digits an integer is a float too, exactly, and so is this power of ten.
const EXACT_DIGITS: usize = 15;

const POWERS_OF_TEN: [f64; EXACT_DIGITS + 1] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

impl<'de> Value<'_, '_, 'de> {
    /// The number that comes next, if the schema allows it.
    #[inline]
    fn checked_number(&mut self) -> Result<Number, Refused> {
        let number = number(self.cursor)?;
        let allowed = match number {
            Number::Unsigned(value) => self.at.unsigned(value),
            Number::Negative(value) => self.at.negative(value),
            Number::Float(value) => self.at.float(value),
        };
        self.cursor.sure(allowed).map(|()| number)
    }

    #[inline]
    pub(super) fn number<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(value) => visitor.visit_f64(value),
        }
    }

    /// A number for who did not ask for one: `serde_json` can be built to hand over its text instead.
    pub(super) fn any_number<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Refused> {
        static KEEPS_TEXT: LazyLock<bool> = LazyLock::new(|| {
            let number = serde_json::from_str::<serde_json::Number>("1.50");
            number.is_ok_and(|number| number.to_string() == "1.50")
        });
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(_) if *KEEPS_TEXT => Err(self.cursor.refuse()),
            Number::Float(value) => visitor.visit_f64(value),
        }
    }

    /// A float of 32 bits, which `serde_json` can be built to round once instead of twice.
    pub(super) fn short_float<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Refused> {
        let text = self.cursor.rest();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(_) => {
                let length = text.len() - self.cursor.rest().len();
                match serde_json::Deserializer::from_str(&text[..length]).deserialize_f32(Sort) {
                    Ok(Number::Float(value)) => visitor.visit_f64(value),
                    _ => Err(self.cursor.refuse()),
                }
            }
        }
    }

    /// An integer of 128 bits: beyond 64 a tree holds a float, which is compared differently.
    pub(super) fn wide_integer<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_i128(value.into()),
            Number::Negative(value) => visitor.visit_i128(value.into()),
            Number::Float(_) => Err(self.cursor.refuse()),
        }
    }

    pub(super) fn wide_natural<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Refused> {
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u128(value.into()),
            Number::Negative(_) | Number::Float(_) => Err(self.cursor.refuse()),
        }
    }
}

/// Reads a number. The ordinary ones are read here; the others `serde_json` reads, so that both round alike.
fn number(cursor: &mut Cursor<'_>) -> Result<Number, Refused> {
    let is_negative = cursor.peek() == b'-';
    let bytes = cursor.rest().as_bytes();
    let start = usize::from(is_negative);
    let (mut value, mut end) = digits(bytes, start, 0);
    let n_whole = end - start;
    if n_whole == 0 || (n_whole > 1 && bytes[start] == b'0') {
        return Err(cursor.refuse());
    }
    let mut n_digits = n_whole;
    if bytes.get(end) == Some(&b'.') {
        let point = end;
        (value, end) = digits(bytes, point + 1, value);
        let n_fraction = end - point - 1;
        n_digits += n_fraction;
        if n_fraction > 0 && n_digits <= EXACT_DIGITS && !matches!(bytes.get(end), Some(b'e' | b'E')) {
            cursor.take(end);
            let float = value as f64 / POWERS_OF_TEN[n_fraction];
            return Ok(Number::Float(if is_negative { -float } else { float }));
        }
        return unusual(cursor);
    }
    // Nineteen digits fit 64 bits; no other integer is minus nought, or less than the least.
    match (is_negative, bytes.get(end)) {
        (_, Some(b'e' | b'E')) => return unusual(cursor),
        (false, _) if n_digits <= 19 => {
            cursor.take(end);
            Ok(Number::Unsigned(value))
        }
        (true, _) if n_digits <= 19 && value != 0 && value <= 1 << 63 => {
            cursor.take(end);
            Ok(Number::Negative((value as i64).wrapping_neg()))
        }
        _ => unusual(cursor),
    }
}

/// `value` with the digits from `start` on behind it, and where they end. Of more than 19 digits it says nothing.
#[inline]
fn digits(bytes: &[u8], start: usize, mut value: u64) -> (u64, usize) {
    let mut end = start;
    while let Some(byte) = bytes.get(end)
        && byte.is_ascii_digit()
    {
        value = value.wrapping_mul(10).wrapping_add(u64::from(byte - b'0'));
        end += 1;
    }
    (value, end)
}

#[inline(never)]
fn unusual(cursor: &mut Cursor<'_>) -> Result<Number, Refused> {
    let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let rest = cursor.rest();
    let length = rest.bytes().position(|byte| !belongs(&byte)).unwrap_or(rest.len());
    let mut text = serde_json::Deserializer::from_str(cursor.take(length));
    match (text.deserialize_f64(Sort), text.end()) {
        (Ok(number), Ok(())) => Ok(number),
        _ => Err(cursor.refuse()),
    }
}

/// Takes a number as `serde_json` sorts it.
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
