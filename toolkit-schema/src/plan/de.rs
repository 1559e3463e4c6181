//! A deserializer of JSON text that validates what it reads, regardless of the type.
//!
//! It behaves like `serde_json` where it succeeds. Unusual input is refused, and read again from a tree. Nothing is
//! scanned twice: the scan that finds a string also finds its end.

mod access;
mod cursor;
pub(crate) mod decimal;
mod enums;
mod escapes;
mod map;
mod names;
mod number;
pub(crate) mod request;
mod seq;
mod text;
pub(crate) mod tree;
mod value;

use std::borrow::Cow;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, Visitor};

pub(super) use cursor::Cursor;
use map::Entries;
use request::Request;
use seq::Elements;
use text::{StringValue, Text};
use value::Value;

use super::error::PlanError;
use super::node::Node;
use super::reserved::is_reserved;

/// Reads one value with a seed and checks that it was consumed. The absence of an error is not sufficient, since a
/// `Deserialize` may ignore the value.
#[inline]
pub(super) fn read<'p, 'de, S: DeserializeSeed<'de>>(
    cursor: &mut Cursor<'p, 'de>,
    node: &'p Node,
    seed: S,
) -> Result<S::Value, PlanError> {
    cursor.peek();
    let start = cursor.position();
    // A type that swallows an error would continue in the middle of the value, or before it.
    let value = seed.deserialize(Value { cursor: &mut *cursor, node });
    let value = cursor.poison_on_err_from(start, value)?;
    match cursor.position() == start {
        true => Err(cursor.fail()),
        false => Ok(value),
    }
}

impl<'de> Value<'_, '_, 'de> {
    #[inline]
    fn array<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        let opened = Elements::open(self.cursor, self.node);
        let mut elements = opened.inspect_err(|_| request::record_request(Request::List))?;
        let value = visitor.visit_seq(&mut elements);
        elements.close(value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        self.object_as(Request::Map, visitor)
    }

    #[inline]
    fn object_as<V: Visitor<'de>>(self, request: Request, visitor: V) -> Result<V::Value, PlanError> {
        let opened = Entries::open(self.cursor, self.node);
        let mut entries = opened.inspect_err(|_| request::record_request(request))?;
        let value = visitor.visit_map(&mut entries);
        entries.close(value)
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

    /// `serde_json` also reads a struct from an array. Schemas that allow this are rare and use a tree.
    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        self.object_as(Request::Struct(fields), visitor)
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
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        if self.cursor.peek() == b'n' {
            self.null()?;
            return visitor.visit_none();
        }
        visitor.visit_some(self)
    }

    #[inline]
    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        self.null()?;
        visitor.visit_unit()
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
        // Raw JSON would be passed on without validation.
        if is_reserved(name.as_bytes()) {
            return Err(self.cursor.fail());
        }
        visitor.visit_newtype_struct(self)
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
            let value = visitor.visit_enum(enums::Variant(&mut entries));
            return entries.close(value);
        }
        if let Some(text) = self.plain_string() {
            return visitor.visit_enum(StringValue(Text::Borrowed(text)));
        }
        match &self.any_string().inspect_err(|_| request::record_request(Request::Enum(variants)))? {
            Cow::Borrowed(text) => visitor.visit_enum(StringValue(Text::Borrowed(text))),
            Cow::Owned(text) => visitor.visit_enum(StringValue(Text::Resolved(text))),
        }
    }

    /// The value is validated although the type ignores it.
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        self.deserialize_any(IgnoredAny)?;
        visitor.visit_unit()
    }
}
