//! The next value of the text: scalars, the values in arrays and objects, and enums.

use std::borrow::Cow;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};

use super::super::node::Node;
use super::super::plan_error::PlanError;
use super::cursor::Cursor;
use super::decimal::Whole;
use super::map::{Elements, Entries, Next, Step};
use super::number::Number;
use super::text::{Key, StringValue, Text};
use super::{number, read};

/// The next value, with the rules that apply to it: a deserializer.
pub struct Value<'c, 'p, 'de> {
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

// Deserialization of the values in arrays and objects.
//
// Reading recurses between this file and `de.rs`: a value hands its items or entries to a visitor, whose seeds read
// the values inside.

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_, 'de> {
    type Error = PlanError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, PlanError> {
        match self.next() {
            Ok(Some(node)) => match read(self.cursor, node, seed) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_, 'de> {
    type Error = PlanError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, PlanError> {
        let key = match self.property() {
            Step::Property(property) => seed.deserialize(Key(Text::Named(property.name()))),
            Step::End => return Ok(None),
            Step::Other => match self.key() {
                Ok(Some(Cow::Borrowed(key))) => seed.deserialize(Key(Text::Borrowed(key))),
                Ok(Some(Cow::Owned(key))) => seed.deserialize(Key(Text::Resolved(&key))),
                Ok(None) => return Ok(None),
                Err(PlanError) => return Err(PlanError),
            },
        };
        match key {
            Ok(key) => Ok(Some(key)),
            Err(PlanError) => Err(self.fail_key()),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, PlanError> {
        match self.take_next() {
            Next::Value(node) => read(self.cursor, node, seed),
            Next::Tag(tag) => match self.tag(tag)? {
                Cow::Borrowed(value) => seed.deserialize(StringValue(Text::Borrowed(value))),
                Cow::Owned(value) => seed.deserialize(StringValue(Text::Resolved(&value))),
            },
            Next::Key => Err(self.cursor.fail()),
        }
    }
}

/// The name of the struct that is the content of a variant.
pub(super) const VARIANT: &str = "";

/// The only key of an object as a variant, and its value as the content.
pub(super) struct Variant<'e, 'c, 'p, 'de>(pub(super) &'e mut Entries<'c, 'p, 'de>);

impl<'de> EnumAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = PlanError;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self), PlanError> {
        match (&mut self.0).next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = PlanError;

    fn unit_variant(mut self) -> Result<(), PlanError> {
        (&mut self.0).next_value()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, PlanError> {
        (&mut self.0).next_value_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(mut self, _: usize, visitor: V) -> Result<V::Value, PlanError> {
        (&mut self.0).next_value_seed(Content { visitor, fields: None })
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        (&mut self.0).next_value_seed(Content { visitor, fields: Some(fields) })
    }
}

/// The content of a variant, read as a struct if it has named fields and as an array otherwise.
struct Content<V> {
    visitor: V,
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Content<V> {
    type Value = V::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<V::Value, D::Error> {
        match self.fields {
            Some(fields) => content.deserialize_struct(VARIANT, fields, self.visitor),
            None => content.deserialize_seq(self.visitor),
        }
    }
}
