//! Whether a lone argument of a type that nobody marked is an object, found out without building its schema.

use std::fmt;

use serde::de::{DeserializeOwned, Deserializer, Error, Visitor};

use crate::catalog::Takes;

/// What `T` asks a deserialiser for first.
pub fn takes<T: DeserializeOwned>() -> Takes {
    match T::deserialize(Asked) {
        Err(Answer(takes)) => takes,
        // It wants nothing, which every JSON has; its schema must say.
        Ok(_) => Takes::Unknown,
    }
}

/// A deserialiser that has nothing, and notes what it was asked for.
struct Asked;

/// What it was asked for.
#[derive(Debug)]
struct Answer(Takes);

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}

impl std::error::Error for Answer {}

impl Error for Answer {
    fn custom<T: fmt::Display>(_: T) -> Self {
        Self(Takes::Unknown)
    }
}

macro_rules! answer {
    ($takes:ident: $($method:ident($($argument:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $argument,)* _: V) -> Result<V::Value, Answer> {
            Err(Answer(Takes::$takes))
        }
    )*};
}

impl<'de> Deserializer<'de> for Asked {
    type Error = Answer;

    answer!(Object: deserialize_struct(&'static str, &'static [&'static str]) deserialize_map());
    answer!(Unknown: deserialize_any() deserialize_ignored_any() deserialize_enum(&'static str, &'static [&'static str]));
    answer! { Other:
        deserialize_bool() deserialize_char() deserialize_str() deserialize_string() deserialize_bytes()
        deserialize_byte_buf() deserialize_identifier() deserialize_option() deserialize_unit() deserialize_seq()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_unit_struct(&'static str) deserialize_tuple(usize)
        deserialize_tuple_struct(&'static str, usize)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Answer> {
        visitor.visit_newtype_struct(self)
    }
}
