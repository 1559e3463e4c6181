//! A serializer that validates what it writes.
//!
//! Numbers and strings with escapes are written by `serde_json`. Punctuation is written here, because the text of a key
//! or tag has to be inspected once it is written, and `serde_json` does not expose its output before it is complete.

mod compound;
mod key;
pub(super) mod output;
mod writer;

use std::fmt::Display;

use serde::ser::{Serialize, Serializer};

use self::compound::{Items, Nesting, ObjectWriter};
pub(super) use self::output::JsonOutput;
pub use self::output::Notes;
pub use self::writer::Writer;
use super::plan_error::PlanError;
use super::property::is_reserved;

impl<'w, 'p> Writer<'w, 'p> {
    #[inline]
    fn array(self, nesting: Nesting) -> Result<Items<'w, 'p>, PlanError> {
        let items = self.node.array()?;
        self.out.open(b'[')?;
        Ok(Items::new(self.out, items, nesting))
    }

    #[inline]
    fn object(self, nesting: Nesting) -> Result<ObjectWriter<'w, 'p>, PlanError> {
        let members = self.node.object()?;
        self.out.open(b'{')?;
        Ok(ObjectWriter::new(self.out, members, nesting))
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), PlanError> {
            match u64::try_from(value) {
                Ok(value) => self.node.unsigned(value)?,
                Err(_) => self.node.negative(i64::try_from(value).map_err(|_| PlanError)?)?,
            }
            self.out.write(|s| s.$method(value))
        }
    )*};
}

impl<'w, 'p> Serializer for Writer<'w, 'p> {
    type Ok = ();
    type Error = PlanError;
    type SerializeSeq = Items<'w, 'p>;
    type SerializeTuple = Items<'w, 'p>;
    type SerializeTupleStruct = Items<'w, 'p>;
    type SerializeTupleVariant = Items<'w, 'p>;
    type SerializeMap = ObjectWriter<'w, 'p>;
    type SerializeStruct = ObjectWriter<'w, 'p>;
    type SerializeStructVariant = ObjectWriter<'w, 'p>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), PlanError> {
        self.boolean(value)
    }

    fn serialize_i128(self, value: i128) -> Result<(), PlanError> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            Err(_) if value > 0 => self.serialize_u128(value.unsigned_abs()),
            Err(_) => self.wide(|s| s.serialize_i128(value)),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<(), PlanError> {
        match u64::try_from(value) {
            Ok(value) => self.serialize_u64(value),
            Err(_) => self.wide(|s| s.serialize_u128(value)),
        }
    }

    fn serialize_f32(self, value: f32) -> Result<(), PlanError> {
        self.short_float(value)
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), PlanError> {
        self.float(value)
    }

    fn serialize_char(self, value: char) -> Result<(), PlanError> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), PlanError> {
        self.string(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), PlanError> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_none(self) -> Result<(), PlanError> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), PlanError> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), PlanError> {
        self.null()
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), PlanError> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), PlanError> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), PlanError> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), PlanError> {
        let Writer { out, node } = self.variant(variant)?;
        value.serialize(Writer { out: &mut *out, node })?;
        out.close(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'w, 'p>, PlanError> {
        self.array(Nesting::Value)
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Items<'w, 'p>, PlanError> {
        self.array(Nesting::Value)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'w, 'p>, PlanError> {
        self.array(Nesting::Value)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'w, 'p>, PlanError> {
        self.variant(variant)?.array(Nesting::Variant)
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<ObjectWriter<'w, 'p>, PlanError> {
        self.object(Nesting::Value)
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<ObjectWriter<'w, 'p>, PlanError> {
        if is_reserved(name.as_bytes()) {
            return self.raw();
        }
        self.object(Nesting::Value)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<ObjectWriter<'w, 'p>, PlanError> {
        self.variant(variant)?.object(Nesting::Variant)
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), PlanError> {
        self.display(value)
    }
}
