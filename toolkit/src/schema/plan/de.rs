//! Reading: a deserializer that checks what the JSON text holds, whatever the type asks for.

mod enums;
mod map;
mod names;
mod seq;
mod text;
mod watch;

use std::cell::Cell;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, Visitor};

use super::at::At;
use super::{PRIVATE, Refused};
use watch::Watch;

/// A deserializer of `serde_json`, positioned at a value, with what the schema says about that value.
pub(super) struct Checked<'p, 'w, D> {
    pub(super) inner: D,
    pub(super) at: At<'p>,
    /// Set once the value's text has been walked to its end and found valid. It is not enough that no error comes
    /// back: a `Deserialize` may swallow errors, or never look at the value.
    pub(super) walked: &'w Cell<bool>,
}

impl<'p, 'w, D> Checked<'p, 'w, D> {
    fn watch<V>(&self, visitor: V) -> Watch<'p, 'w, V> {
        Watch { visitor, at: self.at, walked: self.walked }
    }
}

/// What is left undone on an error was not walked.
#[inline]
fn unless_failed<T, E>(result: Result<T, E>, walked: &Cell<bool>) -> Result<T, E> {
    if result.is_err() {
        walked.set(false);
    }
    result
}

macro_rules! watched {
    ($($method:ident($($arg:ident: $type:ty),*))*) => {$(
        #[inline]
        fn $method<V: Visitor<'de>>(self, $($arg: $type,)* visitor: V) -> Result<V::Value, D::Error> {
            let watch = self.watch(visitor);
            unless_failed(self.inner.$method($($arg,)* watch), self.walked)
        }
    )*};
}

impl<'de, D: Deserializer<'de>> Deserializer<'de> for Checked<'_, '_, D> {
    type Error = D::Error;

    watched! {
        deserialize_any() deserialize_bool()
        deserialize_i8() deserialize_i16() deserialize_i32() deserialize_i64() deserialize_i128()
        deserialize_u8() deserialize_u16() deserialize_u32() deserialize_u64() deserialize_u128()
        deserialize_f32() deserialize_f64()
        deserialize_char() deserialize_str() deserialize_string() deserialize_identifier()
        deserialize_bytes() deserialize_byte_buf()
        deserialize_option() deserialize_unit()
        deserialize_unit_struct(name: &'static str)
        deserialize_seq() deserialize_tuple(len: usize)
        deserialize_tuple_struct(name: &'static str, len: usize)
        deserialize_map()
        deserialize_struct(name: &'static str, fields: &'static [&'static str])
    }

    #[inline]
    fn deserialize_newtype_struct<V: Visitor<'de>>(self, name: &'static str, visitor: V) -> Result<V::Value, D::Error> {
        // Raw JSON would be handed over unread.
        if name.as_bytes().starts_with(PRIVATE) {
            return Err(refused(Refused));
        }
        visitor.visit_newtype_struct(self)
    }

    /// Whether an enum came as a string or as an object is visible only to a visitor of the plain value.
    #[inline]
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, D::Error> {
        let watch = enums::WatchEnum(self.watch(visitor));
        unless_failed(self.inner.deserialize_any(watch), self.walked)
    }

    /// What the type ignores, the schema does not.
    #[inline]
    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, D::Error> {
        let watch = self.watch(IgnoredAny);
        let ignored = self.inner.deserialize_any(watch);
        unless_failed(ignored.and_then(|_| visitor.visit_unit()), self.walked)
    }
}

/// Reads one value with a seed of the type's and makes sure that it was walked.
struct Walk<'p, 'w, S> {
    seed: S,
    at: At<'p>,
    walked: &'w Cell<bool>,
}

impl<'de, S: DeserializeSeed<'de>> DeserializeSeed<'de> for Walk<'_, '_, S> {
    type Value = S::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, inner: D) -> Result<S::Value, D::Error> {
        self.seed.deserialize(Checked { inner, at: self.at, walked: self.walked })
    }
}

#[cold]
fn refused<E: Error>(refused: Refused) -> E {
    E::custom(refused)
}
