//! Text that has been read and checked, as a deserializer that behaves as `serde_json` does at the same place.

use std::marker::PhantomData;

use serde::de::{Deserializer, EnumAccess, Error, Unexpected, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::super::{PRIVATE, Refused};
use super::refused;

/// A string of the input: part of it, or, where it has escapes, a copy that is soon overwritten.
#[derive(Clone, Copy)]
pub(super) enum Text<'de, 'a> {
    Borrowed(&'de str),
    Copied(&'a str),
}

impl<'de, 'a> Text<'de, 'a> {
    #[inline]
    pub(super) fn as_str(self) -> &'a str
    where
        'de: 'a,
    {
        match self {
            Text::Borrowed(text) | Text::Copied(text) => text,
        }
    }

    #[inline]
    fn visit<V: Visitor<'de>, E: Error>(self, visitor: V) -> Result<V::Value, E> {
        match self {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Copied(text) => visitor.visit_str(text),
        }
    }

    fn visit_bytes<V: Visitor<'de>, E: Error>(self, visitor: V) -> Result<V::Value, E> {
        match self {
            Text::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Text::Copied(text) => visitor.visit_bytes(text.as_bytes()),
        }
    }
}

/// A key of an object: it may be asked for as a number or a boolean too.
pub(super) struct Key<'de, 'a, E>(Text<'de, 'a>, PhantomData<E>);

/// A string that is a value.
pub(super) struct Word<'de, 'a, E>(Text<'de, 'a>, PhantomData<E>);

impl<'de, 'a, E> Key<'de, 'a, E> {
    #[inline]
    pub(super) fn new(text: Text<'de, 'a>) -> Self {
        Key(text, PhantomData)
    }
}

impl<'de, 'a, E> Word<'de, 'a, E> {
    #[inline]
    pub(super) fn new(text: Text<'de, 'a>) -> Self {
        Word(text, PhantomData)
    }
}

/// What keys and values have in common.
macro_rules! like_text {
    () => {
        type Error = E;

        #[inline]
        fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            self.0.visit(visitor)
        }

        fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            self.0.visit_bytes(visitor)
        }

        fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            self.0.visit_bytes(visitor)
        }

        #[inline]
        fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            visitor.visit_some(self)
        }

        #[inline]
        fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, E> {
            if name.as_bytes().starts_with(PRIVATE) {
                return Err(refused(Refused));
            }
            visitor.visit_newtype_struct(self)
        }

        #[inline]
        fn deserialize_enum<V: Visitor<'de>>(
            self,
            _: &'static str,
            _: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, E> {
            visitor.visit_enum(Word::new(self.0))
        }
    };
}

/// A key as a number: what stands between the quotes is exactly a JSON number.
macro_rules! numeric_key {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
            let Text::Borrowed(text) = self.0 else {
                return Err(refused(Refused));
            };
            let digit = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_digit);
            let bytes = text.as_bytes();
            if !(digit(bytes.first()) || bytes.first() == Some(&b'-')) || !digit(bytes.last()) {
                return Err(refused(Refused));
            }
            let mut number = serde_json::Deserializer::from_str(text);
            let value = (&mut number).$method(visitor);
            match (value, number.end()) {
                (Ok(value), Ok(())) => Ok(value),
                _ => Err(refused(Refused)),
            }
        }
    )*};
}

impl<'de, E: Error> Deserializer<'de> for Key<'de, '_, E> {
    like_text!();

    numeric_key! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        match self.0 {
            Text::Borrowed("true") => visitor.visit_bool(true),
            Text::Borrowed("false") => visitor.visit_bool(false),
            _ => Err(refused(Refused)),
        }
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// Where the type asks for something that a string is not.
macro_rules! no_text {
    ($($method:ident($($arg:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $arg,)* _: V) -> Result<V::Value, E> {
            Err(refused(Refused))
        }
    )*};
}

impl<'de, E: Error> Deserializer<'de> for Word<'de, '_, E> {
    like_text!();

    no_text! {
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_unit() deserialize_unit_struct(&'static str)
        deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
        deserialize_map() deserialize_struct(&'static str, &'static [&'static str])
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { char str string identifier }
}

/// A string as the name of a variant without content.
impl<'de, E: Error> EnumAccess<'de> for Word<'de, '_, E> {
    type Error = E;
    type Variant = NoContent<E>;

    #[inline]
    fn variant_seed<S: serde::de::DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, NoContent<E>), E> {
        Ok((seed.deserialize(self)?, NoContent(PhantomData)))
    }
}

pub(super) struct NoContent<E>(PhantomData<E>);

impl<'de, E: Error> VariantAccess<'de> for NoContent<E> {
    type Error = E;

    #[inline]
    fn unit_variant(self) -> Result<(), E> {
        Ok(())
    }

    fn newtype_variant_seed<S: serde::de::DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, E> {
        Err(E::invalid_type(Unexpected::UnitVariant, &"newtype variant"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, E> {
        Err(E::invalid_type(Unexpected::UnitVariant, &"tuple variant"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, E> {
        Err(E::invalid_type(Unexpected::UnitVariant, &"struct variant"))
    }
}
