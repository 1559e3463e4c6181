//! Deserializers of strings that have been read and validated. They behave like those of `serde_json`.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, Expected, Unexpected, VariantAccess, Visitor};
use serde::forward_to_deserialize_any;

use super::super::plan_error::PlanError;
use super::super::property::is_reserved;
use super::decimal::Whole;
use super::number::{self, Number};
use super::request;

/// A string of the input: borrowed from it, or a short-lived copy.
#[derive(Clone, Copy)]
pub(super) enum Text<'de, 'a> {
    Borrowed(&'de str),
    /// The schema's copy of a name that occurs verbatim in the input.
    Named(&'a str),
    /// A string with resolved escapes.
    Resolved(&'a str),
}

impl<'de, 'a> Text<'de, 'a> {
    fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) | Text::Named(text) | Text::Resolved(text) => text,
        }
    }

    /// Returns the error of a type that expects something else than a string.
    #[cold]
    fn is_not(&self, expected: &dyn Expected) -> PlanError {
        Error::invalid_type(Unexpected::Str(self.as_str()), expected)
    }

    #[inline]
    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match self {
            Text::Borrowed(text) => visitor.visit_borrowed_str(text),
            Text::Named(text) | Text::Resolved(text) => visitor.visit_str(text),
        }
    }

    fn visit_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match self {
            Text::Borrowed(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
            Text::Named(text) | Text::Resolved(text) => visitor.visit_bytes(text.as_bytes()),
        }
    }
}

/// A key of an object. It may also be requested as a number or a boolean.
pub(super) struct KeyText<'de, 'a>(pub(super) Text<'de, 'a>);

/// A string value.
pub(super) struct StringValue<'de, 'a>(pub(super) Text<'de, 'a>);

/// The methods shared by keys and values. `$mismatch` defines those for types that are not strings.
macro_rules! string_methods {
    ($mismatch:ident) => {
        type Error = PlanError;

        #[inline]
        fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
            self.0.visit(visitor)
        }

        fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
            self.0.visit_bytes(visitor)
        }

        fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
            self.0.visit_bytes(visitor)
        }

        #[inline]
        fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
            visitor.visit_some(self)
        }

        #[inline]
        fn deserialize_newtype_struct<V: Visitor<'de>>(
            self,
            name: &'static str,
            visitor: V,
        ) -> Result<V::Value, PlanError> {
            if is_reserved(name.as_bytes()) {
                return Err(PlanError);
            }
            visitor.visit_newtype_struct(self)
        }

        forward_to_deserialize_any! { char str string identifier }

        $mismatch! {
            deserialize_unit() deserialize_unit_struct(&'static str)
            deserialize_seq() deserialize_tuple(usize) deserialize_tuple_struct(&'static str, usize)
            deserialize_map() deserialize_struct(&'static str, &'static [&'static str])
        }
    };
}

/// Reads a key as a number. Its text must be a JSON number.
macro_rules! number_key {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
            match number::of_key(self.0.as_str()) {
                Ok(Number::Unsigned(value)) => visitor.visit_u64(value),
                Ok(Number::Negative(value)) => visitor.visit_i64(value),
                Ok(Number::Float(value)) => visitor.visit_f64(value),
                Err(PlanError) => Err(no_number()),
            }
        }
    )*};
}

/// Returns the error of a key that is not the number that the type requests.
#[cold]
fn no_number() -> PlanError {
    Error::custom("invalid value: expected key to be a number in quotes")
}

/// Refuses requests that a string cannot satisfy.
macro_rules! unsupported {
    ($($method:ident($($arg:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $arg,)* visitor: V) -> Result<V::Value, PlanError> {
            Err(self.0.is_not(&visitor))
        }
    )*};
}

/// Requests for a key that a string cannot satisfy. Like `serde_json`, passes the string to the visitor anyway.
macro_rules! impossible_key {
    ($($method:ident($($arg:ty),*))*) => {$(
        fn $method<V: Visitor<'de>>(self, $(_: $arg,)* visitor: V) -> Result<V::Value, PlanError> {
            self.0.visit(visitor).inspect_err(|_| request::record_impossible_key())
        }
    )*};
}

impl<'de> Deserializer<'de> for KeyText<'de, '_> {
    string_methods!(impossible_key);

    number_key! {
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_f32 deserialize_f64
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        number::wide_key(self.0.as_str())
            .and_then(Whole::to_i128)
            .ok_or_else(no_number)
            .and_then(|value| visitor.visit_i128(value))
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        number::wide_key(self.0.as_str())
            .and_then(Whole::to_u128)
            .ok_or_else(no_number)
            .and_then(|value| visitor.visit_u128(value))
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        visitor.visit_enum(StringValue(self.0)).inspect_err(|_| request::record_key_variants(variants))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        match self.0.as_str() {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.0.is_not(&visitor)),
        }
    }

    forward_to_deserialize_any! { ignored_any }
}

impl<'de> Deserializer<'de> for StringValue<'de, '_> {
    string_methods!(unsupported);

    unsupported! {
        deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
    }

    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        visitor.visit_enum(StringValue(self.0))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PlanError> {
        visitor.visit_unit()
    }
}

/// A string as the name of a unit variant.
impl<'de> EnumAccess<'de> for StringValue<'de, '_> {
    type Error = PlanError;
    type Variant = UnitVariant;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, UnitVariant), PlanError> {
        Ok((seed.deserialize(self)?, UnitVariant))
    }
}

pub(super) struct UnitVariant;

impl<'de> VariantAccess<'de> for UnitVariant {
    type Error = PlanError;

    #[inline]
    fn unit_variant(self) -> Result<(), PlanError> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, _: S) -> Result<S::Value, PlanError> {
        Err(impossible_variant(&"newtype variant"))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, PlanError> {
        Err(impossible_variant(&"tuple variant"))
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], _: V) -> Result<V::Value, PlanError> {
        Err(impossible_variant(&"struct variant"))
    }
}

/// Records that a string cannot be a variant with content.
#[cold]
fn impossible_variant(expected: &dyn Expected) -> PlanError {
    request::record_impossible_key();
    Error::invalid_type(Unexpected::UnitVariant, expected)
}
