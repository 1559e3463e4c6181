//! A deserializer of JSON text that validates what it reads, regardless of the type.
//!
//! It behaves like `serde_json` where it succeeds. Unusual input is refused, and read again from a tree. Nothing is
//! scanned twice: the scan that finds a string also finds its end.

mod approved;
mod content;
mod cursor;
pub(crate) mod decimal;
mod map;
mod number;
pub(crate) mod request;
pub(crate) mod sole;
mod text;
pub(crate) mod tree;
mod value;

use std::borrow::Cow;
use std::iter;

use serde::de::value::MapDeserializer;
use serde::de::{DeserializeSeed, Deserializer, Expected, IgnoredAny, Visitor};

use self::map::Elements;
pub(super) use approved::Approved;
pub(super) use cursor::Cursor;
use cursor::END;
use map::Entries;
use request::TypeRequest;
pub(super) use sole::{read_absent, read_root};
use text::{StringValue, Text};
pub use value::Value;

use super::node::PlanNode;
use super::plan_error::PlanError;
use super::property::is_reserved;

/// Reads one value from a deserializer, and keeps it or drops it.
pub type Read<'r> = dyn FnMut(Value<'_, '_, '_>) -> Result<(), PlanError> + 'r;

/// Reads one value with a seed and checks that it was consumed. The absence of an error is not sufficient, since a
/// `Deserialize` may ignore the value.
#[inline]
pub(super) fn read<'p, 'de, S: DeserializeSeed<'de>>(
    cursor: &mut Cursor<'p, 'de>,
    node: &'p PlanNode,
    seed: S,
) -> Result<S::Value, PlanError> {
    cursor.peek();
    let start = cursor.position();
    // A type that swallows an error would continue in the middle of the value, or before it. Results are
    // returned as they are, here and below: a combinator would be one more function to compile for every type.
    let value = seed.deserialize(Value { cursor: &mut *cursor, node });
    if let Err(PlanError) = value {
        return Err(cursor.fail_from(start));
    }
    if cursor.position() == start && !cursor.may_ignore() {
        return Err(PlanError);
    }
    value
}

/// Does the same as [`read`] with a function, so that it is compiled once for all types.
#[inline]
pub(super) fn read_with<'p>(
    cursor: &mut Cursor<'p, '_>,
    node: &'p PlanNode,
    read: &mut Read<'_>,
) -> Result<(), PlanError> {
    cursor.peek();
    let start = cursor.position();
    if let Err(PlanError) = read(Value { cursor: &mut *cursor, node }) {
        return Err(cursor.fail_from(start));
    }
    if cursor.position() == start && !cursor.may_ignore() {
        return Err(PlanError);
    }
    Ok(())
}

impl<'de> Value<'_, '_, 'de> {
    #[inline]
    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match Elements::open(&mut *self.cursor, self.node) {
            Ok(mut elements) => {
                let value = visitor.visit_seq(&mut elements);
                match elements.close(value.is_ok()) {
                    Ok(()) => value,
                    Err(PlanError) => Err(PlanError),
                }
            }
            Err(PlanError) => Err(self.requests(TypeRequest::List, &visitor)),
        }
    }

    #[inline]
    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match Entries::open(&mut *self.cursor, self.node) {
            Ok(mut entries) => {
                let value = visitor.visit_map(&mut entries);
                match entries.close(value.is_ok()) {
                    Ok(()) => value,
                    Err(PlanError) => Err(PlanError),
                }
            }
            Err(PlanError) => Err(self.requests(TypeRequest::Map, &visitor)),
        }
    }

    /// Records a request at a place where the text has a value of another kind, or none.
    #[cold]
    fn requests(self, request: TypeRequest, expected: &dyn Expected) -> PlanError {
        request::record_request(request);
        self.cursor.other_kind(expected)
    }
}

/// Forwards each type to one kind of JSON value, as `serde_json` does.
macro_rules! only {
    ($($method:ident($($arg:ty),*) => $read:ident;)*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $(_: $arg,)* visitor: V) -> Result<V::Value, PlanError> {
            self.$read(visitor)
        }
    )*};
}

impl<'de> Deserializer<'de> for Value<'_, '_, 'de> {
    type Error = PlanError;

    only! {
        deserialize_bool() => boolean;
        deserialize_i8() => integer; deserialize_i16() => integer; deserialize_i32() => integer;
        deserialize_i64() => integer; deserialize_i128() => wide_integer;
        deserialize_u8() => integer; deserialize_u16() => integer; deserialize_u32() => integer;
        deserialize_u64() => integer; deserialize_u128() => wide_natural;
        deserialize_f32() => short_float; deserialize_f64() => number;
        deserialize_char() => string; deserialize_str() => string; deserialize_string() => string;
        deserialize_identifier() => string;
        deserialize_seq() => array; deserialize_tuple(usize) => array;
        deserialize_tuple_struct(&'static str, usize) => array;
        deserialize_map() => object;
    }

    /// `serde_json` also reads a struct from an array. Schemas that allow this are rare.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        if let Ok(mut entries) = Entries::open(&mut *self.cursor, self.node) {
            let value = visitor.visit_map(&mut entries);
            return match entries.close(value.is_ok()) {
                Ok(()) => value,
                Err(PlanError) => Err(PlanError),
            };
        }
        if name != content::VARIANT && self.cursor.is_approved_array() {
            return self.array(visitor);
        }
        Err(self.requests(TypeRequest::Struct(fields), &visitor))
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match self.cursor.peek() {
            b'"' => self.string(visitor),
            b'{' => self.object(visitor),
            b'[' => self.array(visitor),
            b't' | b'f' => self.boolean(visitor),
            b'n' => self.deserialize_unit(visitor),
            _ => self.number(visitor),
        }
    }

    #[inline]
    fn deserialize_option<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        match self.cursor.peek() {
            b'n' => {
                self.null()?;
                visitor.visit_none()
            }
            END if self.cursor.is_absent() => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, PlanError> {
        match self.null() {
            Ok(()) => visitor.visit_unit(),
            Err(PlanError) => Err(self.cursor.other_kind(&visitor)),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, PlanError> {
        self.deserialize_unit(visitor)
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        // serde does not read an absent newtype either.
        if self.cursor.is_absent() {
            return Err(PlanError);
        }
        if !is_reserved(name.as_bytes()) {
            return visitor.visit_newtype_struct(self);
        }
        match self.cursor.raw() {
            Some(raw) => visitor.visit_map(MapDeserializer::new(iter::once((name, raw)))),
            None => Err(self.cursor.fail()),
        }
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match self.cursor.peek() {
            b'[' => self.array(visitor),
            _ => self.bytes(visitor),
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        self.deserialize_bytes(visitor)
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        if self.cursor.peek() == b'{' {
            let mut entries = Entries::open(self.cursor, self.node)?;
            let value = visitor.visit_enum(content::Variant(&mut entries));
            return match entries.close(value.is_ok()) {
                Ok(()) => value,
                Err(PlanError) => Err(PlanError),
            };
        }
        if let Some(text) = self.plain_string() {
            return visitor.visit_enum(StringValue(Text::Borrowed(text)));
        }
        match &self.any_string() {
            Ok(Cow::Borrowed(text)) => visitor.visit_enum(StringValue(Text::Borrowed(text))),
            Ok(Cow::Owned(text)) => visitor.visit_enum(StringValue(Text::Resolved(text))),
            Err(PlanError) => Err(self.requests(TypeRequest::Enum(variants), &"string or map")),
        }
    }

    /// The value is validated although the type ignores it.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        self.deserialize_any(IgnoredAny)?;
        visitor.visit_unit()
    }
}
