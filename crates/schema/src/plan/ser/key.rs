//! Writing of keys: numbers and booleans become strings, and other types except strings are refused.

use std::borrow::Cow;
use std::fmt::Display;

use serde::ser::{Impossible, Serialize, Serializer};

use super::output::JsonOutput;
use crate::plan::plan_error::PlanError;

/// Writes a key as `serde_json` writes it.
pub(super) struct WriteKey<'w, 'p>(pub(super) &'w mut JsonOutput<'p>);

/// Calls `f` with the unescaped content of a JSON string.
#[inline]
pub(super) fn with_text<T>(json: &[u8], f: impl FnOnce(&[u8]) -> Result<T, PlanError>) -> Result<T, PlanError> {
    let [b'"', text @ .., b'"'] = json else {
        return Err(PlanError);
    };
    if !text.contains(&b'\\') {
        return f(text);
    }
    let text: Cow<'_, str> = serde_json::from_slice(json).map_err(|_| PlanError)?;
    f(text.as_bytes())
}

macro_rules! quoted {
    ($($method:ident($type:ty))*) => {$(
        fn $method(self, value: $type) -> Result<(), PlanError> {
            self.0.json.push(b'"');
            self.0.write(|s| s.$method(value))?;
            self.0.json.push(b'"');
            Ok(())
        }
    )*};
}

macro_rules! no_key {
    ($($method:ident($($type:ty),*) -> $ok:ident)*) => {$(
        fn $method(self, $(_: $type),*) -> Result<Self::$ok, PlanError> {
            Err(PlanError)
        }
    )*};
}

impl Serializer for WriteKey<'_, '_> {
    type Ok = ();
    type Error = PlanError;
    type SerializeSeq = Impossible<(), PlanError>;
    type SerializeTuple = Impossible<(), PlanError>;
    type SerializeTupleStruct = Impossible<(), PlanError>;
    type SerializeTupleVariant = Impossible<(), PlanError>;
    type SerializeMap = Impossible<(), PlanError>;
    type SerializeStruct = Impossible<(), PlanError>;
    type SerializeStructVariant = Impossible<(), PlanError>;

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), PlanError> {
        self.0.string(value)
    }

    fn serialize_char(self, value: char) -> Result<(), PlanError> {
        self.0.write(|s| s.serialize_char(value))
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), PlanError> {
        self.0.display(value)
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), PlanError> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), PlanError> {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), PlanError> {
        value.serialize(self)
    }

    quoted! {
        serialize_bool(bool)
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64) serialize_i128(i128)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64) serialize_u128(u128)
    }

    fn serialize_f32(self, value: f32) -> Result<(), PlanError> {
        self.serialize_float(value.is_finite(), |s| s.serialize_f32(value))
    }

    fn serialize_f64(self, value: f64) -> Result<(), PlanError> {
        self.serialize_float(value.is_finite(), |s| s.serialize_f64(value))
    }

    no_key! {
        serialize_bytes(&[u8]) -> Ok
        serialize_none() -> Ok
        serialize_unit() -> Ok
        serialize_unit_struct(&'static str) -> Ok
        serialize_seq(Option<usize>) -> SerializeSeq
        serialize_tuple(usize) -> SerializeTuple
        serialize_tuple_struct(&'static str, usize) -> SerializeTupleStruct
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> SerializeTupleVariant
        serialize_map(Option<usize>) -> SerializeMap
        serialize_struct(&'static str, usize) -> SerializeStruct
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> SerializeStructVariant
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), PlanError> {
        Err(PlanError)
    }
}

impl WriteKey<'_, '_> {
    fn serialize_float(
        self,
        finite: bool,
        write: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
    ) -> Result<(), PlanError> {
        if !finite {
            return Err(PlanError);
        }
        self.0.json.push(b'"');
        self.0.write(write)?;
        self.0.json.push(b'"');
        Ok(())
    }
}
