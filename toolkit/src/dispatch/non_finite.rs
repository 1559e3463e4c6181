//! Floats that JSON cannot represent, by their place in a result.

use std::fmt::Display;

use serde::de::value::Error;
use serde::ser::{self, Serialize, Serializer};

use crate::schema::child;

/// The most places that are reported.
const MAX_FOUND: usize = 16;

/// Returns the first few non-finite floats in `output`, each with its JSON pointer.
///
/// `serde_json` writes them as `null`, which does not tell a reader what went wrong.
pub(super) fn non_finite(output: &impl Serialize) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    // A value that fails to serialize has been reported before.
    let _ = output.serialize(Finder { pointer: String::new(), found: &mut found });
    found
}

/// The name of a non-finite float in messages.
pub(super) fn name(float: f64) -> &'static str {
    match float {
        f64::INFINITY => "Infinity",
        f64::NEG_INFINITY => "-Infinity",
        _ => "NaN",
    }
}

/// Serializes one value at `pointer` to nothing, and keeps the non-finite floats.
struct Finder<'f> {
    pointer: String,
    found: &'f mut Vec<(String, f64)>,
}

/// A sequence or a map: what each element is called, and where the value itself stands.
struct Elements<'f> {
    pointer: String,
    idx: usize,
    key: String,
    found: &'f mut Vec<(String, f64)>,
}

impl<'f> Finder<'f> {
    fn elements(self) -> Elements<'f> {
        Elements { pointer: self.pointer, idx: 0, key: String::new(), found: self.found }
    }

    fn variant(self, variant: &str) -> Self {
        Self { pointer: child(&self.pointer, variant), found: self.found }
    }
}

impl Elements<'_> {
    fn visit(&mut self, token: &str, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        value.serialize(Finder { pointer: child(&self.pointer, token), found: &mut *self.found })
    }

    fn next(&mut self, value: &(impl Serialize + ?Sized)) -> Result<(), Error> {
        let token = self.idx.to_string();
        self.idx += 1;
        self.visit(&token, value)
    }
}

macro_rules! skipped {
    ($($method:ident($($argument:ty),*))*) => {$(
        fn $method(self, $(_: $argument),*) -> Result<(), Error> {
            Ok(())
        }
    )*};
}

impl<'f> Serializer for Finder<'f> {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = Elements<'f>;
    type SerializeTuple = Elements<'f>;
    type SerializeTupleStruct = Elements<'f>;
    type SerializeTupleVariant = Elements<'f>;
    type SerializeMap = Elements<'f>;
    type SerializeStruct = Elements<'f>;
    type SerializeStructVariant = Elements<'f>;

    skipped! {
        serialize_bool(bool) serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_i128(i128) serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
        serialize_u128(u128) serialize_char(char) serialize_str(&str) serialize_bytes(&[u8]) serialize_none()
        serialize_unit() serialize_unit_struct(&'static str)
        serialize_unit_variant(&'static str, u32, &'static str)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Error> {
        self.serialize_f64(value.into())
    }

    fn serialize_f64(self, value: f64) -> Result<(), Error> {
        if !value.is_finite() && self.found.len() < MAX_FOUND {
            self.found.push((self.pointer, value));
        }
        Ok(())
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Error> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Error> {
        value.serialize(self.variant(variant))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Elements<'f>, Error> {
        Ok(self.elements())
    }

    fn serialize_tuple(self, _: usize) -> Result<Elements<'f>, Error> {
        Ok(self.elements())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Elements<'f>, Error> {
        Ok(self.elements())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'f>, Error> {
        Ok(self.variant(variant).elements())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Elements<'f>, Error> {
        Ok(self.elements())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Elements<'f>, Error> {
        Ok(self.elements())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Elements<'f>, Error> {
        Ok(self.variant(variant).elements())
    }

    fn collect_str<T: Display + ?Sized>(self, _: &T) -> Result<(), Error> {
        Ok(())
    }
}

macro_rules! sequences {
    ($($name:ident::$method:ident)*) => {$(
        impl ser::$name for Elements<'_> {
            type Ok = ();
            type Error = Error;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
                self.next(value)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

sequences! {
    SerializeSeq::serialize_element SerializeTuple::serialize_element
    SerializeTupleStruct::serialize_field SerializeTupleVariant::serialize_field
}

macro_rules! structs {
    ($($name:ident)*) => {$(
        impl ser::$name for Elements<'_> {
            type Ok = ();
            type Error = Error;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Error> {
                self.visit(key, value)
            }

            fn end(self) -> Result<(), Error> {
                Ok(())
            }
        }
    )*};
}

structs! { SerializeStruct SerializeStructVariant }

impl ser::SerializeMap for Elements<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Error> {
        self.key = match serde_json::to_value(key) {
            Ok(serde_json::Value::String(text)) => text,
            Ok(other) => other.to_string(),
            Err(_) => String::new(),
        };
        Ok(())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Error> {
        let key = std::mem::take(&mut self.key);
        self.visit(&key, value)
    }

    fn end(self) -> Result<(), Error> {
        Ok(())
    }
}
