//! The next value of the text, and the reading of scalars.

use std::borrow::Cow;

use serde::de::Visitor;

use super::super::error::PlanError;
use super::super::node::Node;
use super::cursor::Cursor;
use super::decimal::Whole;
use super::number::{self, Number};

/// The next value, with the rules that apply to it.
pub(in super::super) struct Value<'c, 'p, 'de> {
    pub(super) cursor: &'c mut Cursor<'p, 'de>,
    pub(super) node: &'p Node,
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
        match self.any_string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_str(text),
            Cow::Owned(text) => {
                let value = visitor.visit_str(&text);
                self.cursor.give_back(text);
                value
            }
        }
    }

    pub(super) fn bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        match self.any_string()? {
            Cow::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Cow::Owned(text) => visitor.visit_bytes(text.as_bytes()),
        }
    }

    #[inline]
    pub(super) fn boolean<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        let value = self.cursor.boolean()?;
        self.cursor.poison_on_err(self.node.boolean(value))?;
        visitor.visit_bool(value)
    }

    #[inline]
    pub(super) fn null(self) -> Result<(), PlanError> {
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

    /// Reads a number for a type that requests a 32-bit float.
    pub(super) fn short_float<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        let text = self.cursor.rest();
        match self.checked_number()? {
            Number::Unsigned(value) => visitor.visit_u64(value),
            Number::Negative(value) => visitor.visit_i64(value),
            Number::Float(_) => {
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
