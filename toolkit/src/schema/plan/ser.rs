//! Writing: a serializer that checks what it writes.
//!
//! Strings and numbers are written by `serde_json`. The brackets, commas and colons between them are written here,
//! because the text of a key or a tag has to be looked at once it is written, and `serde_json` lets nobody see its
//! output before it is done.

mod compound;
mod key;

use std::fmt::Display;

use serde::ser::{Serialize, Serializer};

use super::at::At;
use super::node::Kinds;
use super::object::Member;
use super::{PRIVATE, Refused};
use compound::{Fields, Items};

/// How deep `serde_json` reads.
const MAX_DEPTH: u8 = 127;

/// Writes one value, of which the schema says what is found at `at`.
pub(super) struct Writer<'p, 'o> {
    pub(super) out: &'o mut Vec<u8>,
    pub(super) at: At<'p>,
    /// How many arrays and objects are open.
    pub(super) depth: u8,
}

impl<'p, 'o> Writer<'p, 'o> {
    #[inline]
    fn deeper(&self) -> Result<u8, Refused> {
        if self.depth < MAX_DEPTH { Ok(self.depth + 1) } else { Err(Refused) }
    }

    #[inline]
    fn array(self, tail: &'static [u8]) -> Result<Items<'p, 'o>, Refused> {
        let depth = self.deeper()?;
        let items = self.at.array()?;
        self.out.push(b'[');
        Ok(Items::new(self.out, items, depth, tail))
    }

    #[inline]
    fn object(self, tail: &'static [u8]) -> Result<Fields<'p, 'o>, Refused> {
        let depth = self.deeper()?;
        let members = self.at.object()?;
        self.out.push(b'{');
        Ok(Fields::new(self.out, members, depth, tail))
    }

    /// Opens the object around the content of a variant. The caller closes it.
    fn variant(self, variant: &str) -> Result<Writer<'p, 'o>, Refused> {
        let depth = self.deeper()?;
        let mut members = self.at.object()?;
        let (Member::Known(at, _) | Member::Other(at)) = members.enter(variant.as_bytes())? else {
            return Err(Refused);
        };
        members.finish()?;
        self.out.push(b'{');
        json(self.out, |s| s.serialize_str(variant))?;
        self.out.push(b':');
        Ok(Writer { out: self.out, at, depth })
    }
}

macro_rules! integers {
    ($($method:ident($type:ty))*) => {$(
        #[inline]
        fn $method(self, value: $type) -> Result<(), Refused> {
            let at = self.at;
            match u64::try_from(value) {
                Ok(value) => at.unsigned(value)?,
                Err(_) => at.negative(i64::try_from(value).map_err(|_| Refused)?)?,
            }
            json(self.out, |s| s.$method(value))
        }
    )*};
}

impl<'p, 'o> Serializer for Writer<'p, 'o> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Items<'p, 'o>;
    type SerializeTuple = Items<'p, 'o>;
    type SerializeTupleStruct = Items<'p, 'o>;
    type SerializeTupleVariant = Items<'p, 'o>;
    type SerializeMap = Fields<'p, 'o>;
    type SerializeStruct = Fields<'p, 'o>;
    type SerializeStructVariant = Fields<'p, 'o>;

    integers! {
        serialize_i8(i8) serialize_i16(i16) serialize_i32(i32) serialize_i64(i64)
        serialize_u8(u8) serialize_u16(u16) serialize_u32(u32) serialize_u64(u64)
    }

    #[inline]
    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        self.at.boolean(value)?;
        json(self.out, |s| s.serialize_bool(value))
    }

    fn serialize_i128(self, value: i128) -> Result<(), Refused> {
        match i64::try_from(value) {
            Ok(value) => self.serialize_i64(value),
            // Beyond 64 bits it would be read as a float.
            Err(_) => self.serialize_u64(u64::try_from(value).map_err(|_| Refused)?),
        }
    }

    fn serialize_u128(self, value: u128) -> Result<(), Refused> {
        self.serialize_u64(u64::try_from(value).map_err(|_| Refused)?)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Refused> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        let start = self.out.len();
        json(self.out, |s| s.serialize_f32(value))?;
        match self.at.allow(Kinds::FLOAT)?.number {
            None => Ok(()),
            Some(_) => self.at.float(read_back(&self.out[start..])?),
        }
    }

    #[inline]
    fn serialize_f64(self, value: f64) -> Result<(), Refused> {
        if !value.is_finite() {
            return self.serialize_unit();
        }
        let start = self.out.len();
        json(self.out, |s| s.serialize_f64(value))?;
        match &self.at.allow(Kinds::FLOAT)?.number {
            None => Ok(()),
            Some(rule) if rule.admits_around(value) => Ok(()),
            Some(_) => self.at.float(read_back(&self.out[start..])?),
        }
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    #[inline]
    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.at.string(value)?;
        json(self.out, |s| s.serialize_str(value))
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Refused> {
        self.collect_seq(value)
    }

    #[inline]
    fn serialize_none(self) -> Result<(), Refused> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    #[inline]
    fn serialize_unit(self) -> Result<(), Refused> {
        self.at.null()?;
        self.out.extend_from_slice(b"null");
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Refused> {
        self.serialize_unit()
    }

    #[inline]
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Refused> {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        let content = self.variant(variant)?;
        value.serialize(Writer { out: &mut *content.out, ..content })?;
        content.out.push(b'}');
        Ok(())
    }

    #[inline]
    fn serialize_seq(self, _: Option<usize>) -> Result<Items<'p, 'o>, Refused> {
        self.array(b"]")
    }

    #[inline]
    fn serialize_tuple(self, _: usize) -> Result<Items<'p, 'o>, Refused> {
        self.array(b"]")
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Items<'p, 'o>, Refused> {
        self.array(b"]")
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Items<'p, 'o>, Refused> {
        self.variant(variant)?.array(b"]}")
    }

    #[inline]
    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'p, 'o>, Refused> {
        self.object(b"}")
    }

    #[inline]
    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Fields<'p, 'o>, Refused> {
        // Raw JSON, which nobody has looked at.
        if name.as_bytes().starts_with(PRIVATE) {
            return Err(Refused);
        }
        self.object(b"}")
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Fields<'p, 'o>, Refused> {
        self.variant(variant)?.object(b"}}")
    }

    fn collect_str<T: Display + ?Sized>(self, value: &T) -> Result<(), Refused> {
        let start = self.out.len();
        json(self.out, |s| s.collect_str(value))?;
        match self.at.allow(Kinds::STRING)?.string {
            None => Ok(()),
            Some(_) => key::with_text(&self.out[start..], |text| {
                self.at.string(std::str::from_utf8(text).map_err(|_| Refused)?)
            }),
        }
    }
}

/// Lets `serde_json` write one scalar.
#[inline]
fn json(
    out: &mut Vec<u8>,
    write: impl FnOnce(&mut serde_json::Serializer<&mut Vec<u8>>) -> serde_json::Result<()>,
) -> Result<(), Refused> {
    write(&mut serde_json::Serializer::new(out)).map_err(|_| Refused)
}

/// The number as it will be read: not always the one that was written, in the last digit.
fn read_back(json: &[u8]) -> Result<f64, Refused> {
    serde_json::from_slice(json).map_err(|_| Refused)
}
