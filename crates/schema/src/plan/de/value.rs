//! The next value of the text, and scalars.

use std::borrow::Cow;

use serde::de::Visitor;

use super::super::node::PlanNode;
use super::super::plan_error::PlanError;
use super::cursor::Cursor;
use super::decimal::Whole;
use super::number;
use super::number::Number;

/// The next value, with the rules that apply to it: a deserializer.
pub struct Value<'c, 'p, 'de> {
    pub(super) cursor: &'c mut Cursor<'p, 'de>,
    pub(super) node: &'p PlanNode,
}

impl<'de> Value<'_, '_, 'de> {
    /// Reads a string without escapes that the schema accepts. Returns `None` if the string needs the slow path.
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        let start = self.cursor.position();
        let text = self.cursor.plain_string()?;
        if self.node.string(text).is_err() {
            self.cursor.seek(start);
            return None;
        }
        Some(text)
    }

    #[inline(never)]
    pub(super) fn any_string(&mut self) -> Result<Cow<'de, str>, PlanError> {
        let text = self.cursor.any_string()?;
        self.cursor.poison_on_err(self.node.string(&text)).map(|()| text)
    }

    #[inline]
    pub(super) fn string<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        if let Some(text) = self.plain_string() {
            return visitor.visit_borrowed_str(text);
        }
        match self.any_string() {
            Ok(Cow::Borrowed(text)) => visitor.visit_borrowed_str(text),
            Ok(Cow::Owned(text)) => {
                let value = visitor.visit_str(&text);
                self.cursor.give_back(text);
                value
            }
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    pub(super) fn bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        match self.any_string() {
            Ok(Cow::Borrowed(text)) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Ok(Cow::Owned(text)) => visitor.visit_bytes(text.as_bytes()),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    #[inline]
    pub(super) fn boolean<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        match self.checked_boolean() {
            Ok(value) => visitor.visit_bool(value),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    #[inline]
    fn checked_boolean(&mut self) -> Result<bool, PlanError> {
        let value = self.cursor.boolean()?;
        self.cursor.poison_on_err(self.node.boolean(value)).map(|()| value)
    }

    #[inline]
    pub(super) fn null(&mut self) -> Result<(), PlanError> {
        self.cursor.literal(b"null")?;
        self.cursor.poison_on_err(self.node.null())
    }

    /// Reads a plain non-negative integer that the schema accepts. Returns `None` if the number needs the slow path.
    #[inline]
    fn plain_natural(&mut self) -> Option<u64> {
        let (value, end) = number::natural(self.cursor.bytes(), self.cursor.position())?;
        self.node.unsigned(value).ok()?;
        self.cursor.seek(end);
        Some(value)
    }

    /// Reads the next number and checks it against the schema.
    #[inline(never)]
    fn checked_number(&mut self) -> Result<Number, PlanError> {
        let number = number::number(self.cursor)?;
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
        match self.checked_number() {
            Ok(Number::Unsigned(value)) => visitor.visit_u64(value),
            Ok(Number::Negative(value)) => visitor.visit_i64(value),
            Ok(Number::Float(value)) => visitor.visit_f64(value),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    /// Reads a number for a type that requests an integer of up to 64 bits.
    #[inline]
    pub(super) fn integer<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        if let Some(value) = self.plain_natural() {
            return visitor.visit_u64(value);
        }
        match self.checked_integer() {
            Ok(Number::Unsigned(value)) => visitor.visit_u64(value),
            Ok(Number::Negative(value)) => visitor.visit_i64(value),
            Ok(Number::Float(value)) => visitor.visit_f64(value),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    /// Reads a number, as a 64-bit integer if it is one in another notation. A float is only returned if the value was
    /// validated by other means: the type rejects it.
    #[inline(never)]
    fn checked_integer(&mut self) -> Result<Number, PlanError> {
        let start = self.cursor.position();
        let number = self.checked_number()?;
        let Number::Float(_) = number else { return Ok(number) };
        let integer = self.whole(start)?.and_then(Whole::to_i128).and_then(|integer| {
            u64::try_from(integer).map(Number::Unsigned).or_else(|_| i64::try_from(integer).map(Number::Negative)).ok()
        });
        if integer.is_some() {
            self.record_whole(start);
        }
        Ok(integer.unwrap_or(number))
    }

    /// Reads a number for a type that requests a 32-bit float.
    pub(super) fn short_float<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let text = self.cursor.rest();
        match self.checked_number() {
            Ok(Number::Unsigned(value)) => visitor.visit_u64(value),
            Ok(Number::Negative(value)) => visitor.visit_i64(value),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
            Ok(Number::Float(_)) => {
                let text = &text[..text.len() - self.cursor.rest().len()];
                match number::short_float(text) {
                    Some(value) => visitor.visit_f64(value),
                    None => Err(self.cursor.fail()),
                }
            }
        }
    }

    /// Reads an integer of up to 128 bits exactly.
    pub(super) fn wide_integer<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let start = self.cursor.position();
        match self.checked_number() {
            Ok(Number::Unsigned(value)) => visitor.visit_i128(value.into()),
            Ok(Number::Negative(value)) => visitor.visit_i128(value.into()),
            Ok(Number::Float(float)) => match self.whole(start)?.and_then(Whole::to_i128) {
                Some(value) => {
                    self.record_whole(start);
                    visitor.visit_i128(value)
                }
                None => visitor.visit_f64(float),
            },
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    pub(super) fn wide_natural<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let start = self.cursor.position();
        match self.checked_number() {
            Ok(Number::Unsigned(value)) => visitor.visit_u128(value.into()),
            Ok(Number::Negative(value)) => visitor.visit_i64(value),
            Ok(Number::Float(float)) => match self.whole(start)?.and_then(Whole::to_u128) {
                Some(value) => {
                    self.record_whole(start);
                    visitor.visit_u128(value)
                }
                None => visitor.visit_f64(float),
            },
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    /// Returns the integer that was read since `start`, if floats may be read as integers.
    #[cold]
    fn whole(&mut self, start: usize) -> Result<Option<Whole>, PlanError> {
        match str::from_utf8(self.cursor.read_since(start).trim_ascii_start()) {
            Ok(text) if self.cursor.is_approved() => Ok(Whole::read(text)),
            _ => Err(self.cursor.fail()),
        }
    }

    /// Records that the float that was read since `start` is read as an integer.
    #[cold]
    fn record_whole(&mut self, start: usize) {
        let is_zero = self.cursor.read_since(start).trim_ascii_start() == b"-0";
        if let Some(whole) = self.cursor.whole.as_mut().filter(|_| !is_zero) {
            whole.push(start);
        }
    }
}
