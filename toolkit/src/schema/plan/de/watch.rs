//! A visitor that checks what it is shown before it shows it to the type's own.

use std::cell::Cell;
use std::fmt;

use serde::de::{Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::super::Refused;
use super::super::at::At;
use super::super::node::Kinds;
use super::map::CheckedMap;
use super::seq::CheckedSeq;
use super::{Checked, refused};

pub(super) struct Watch<'p, 'w, V> {
    pub(super) visitor: V,
    pub(super) at: At<'p>,
    pub(super) walked: &'w Cell<bool>,
}

macro_rules! scalars {
    ($($visit:ident($type:ty) => $check:ident;)*) => {$(
        #[inline]
        fn $visit<E: Error>(self, value: $type) -> Result<V::Value, E> {
            self.at.$check(value).map_err(refused)?;
            self.walked.set(true);
            self.visitor.$visit(value)
        }
    )*};
}

impl<'de, V: Visitor<'de>> Visitor<'de> for Watch<'_, '_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.visitor.expecting(f)
    }

    scalars! {
        visit_bool(bool) => boolean;
        visit_i64(i64) => integer;
        visit_u64(u64) => integer;
        visit_f64(f64) => float;
        visit_str(&str) => string;
        visit_borrowed_str(&'de str) => string;
    }

    fn visit_f32<E: Error>(self, value: f32) -> Result<V::Value, E> {
        // `serde_json` can be built to read short floats directly; a tree would hold another number then.
        match self.at.allow(Kinds::FLOAT).map_err(refused)?.number {
            None => {
                self.walked.set(true);
                self.visitor.visit_f32(value)
            }
            Some(_) => Err(refused(Refused)),
        }
    }

    fn visit_i128<E: Error>(self, value: i128) -> Result<V::Value, E> {
        // Beyond 64 bits a tree would hold a float, which is compared differently.
        if i64::try_from(value).is_err() && u64::try_from(value).is_err() {
            return Err(refused(Refused));
        }
        self.at.integer(value).map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_i128(value)
    }

    fn visit_u128<E: Error>(self, value: u128) -> Result<V::Value, E> {
        let narrow = u64::try_from(value).map_err(|_| refused(Refused))?;
        self.at.integer(narrow).map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_u128(value)
    }

    /// A string that the type wants as bytes, unchecked by `serde_json`.
    fn visit_bytes<E: Error>(self, value: &[u8]) -> Result<V::Value, E> {
        self.at.string(text_of(value)?).map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_bytes(value)
    }

    fn visit_borrowed_bytes<E: Error>(self, value: &'de [u8]) -> Result<V::Value, E> {
        self.at.string(text_of(value)?).map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_borrowed_bytes(value)
    }

    #[inline]
    fn visit_unit<E: Error>(self) -> Result<V::Value, E> {
        self.at.null().map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_unit()
    }

    #[inline]
    fn visit_none<E: Error>(self) -> Result<V::Value, E> {
        self.at.null().map_err(refused)?;
        self.walked.set(true);
        self.visitor.visit_none()
    }

    #[inline]
    fn visit_some<D: Deserializer<'de>>(self, inner: D) -> Result<V::Value, D::Error> {
        self.visitor.visit_some(Checked { inner, at: self.at, walked: self.walked })
    }

    #[inline]
    fn visit_seq<A: SeqAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let mut seq = CheckedSeq::new(inner, self.at.array().map_err(refused)?);
        let value = self.visitor.visit_seq(&mut seq)?;
        seq.finish()?;
        self.walked.set(true);
        Ok(value)
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let mut map = CheckedMap::new(inner, self.at.object().map_err(refused)?);
        let value = self.visitor.visit_map(&mut map)?;
        map.finish()?;
        self.walked.set(true);
        Ok(value)
    }
}

/// The text of a string read as bytes, where it is certainly JSON: control characters have to be escaped there, and
/// once it is bytes nobody knows whether they were.
fn text_of<E: Error>(bytes: &[u8]) -> Result<&str, E> {
    let text = std::str::from_utf8(bytes).ok();
    let text = text.filter(|text| !text.bytes().any(|byte| byte < b' '));
    text.ok_or_else(|| refused(Refused))
}
