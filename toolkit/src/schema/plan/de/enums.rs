//! Reading an enum: a string names a variant without content, an object with one key a variant and its content.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, VariantAccess, Visitor};

use super::super::Refused;
use super::map::CheckedMap;
use super::refused;
use super::text::{Text, Word};
use super::watch::Watch;

/// Sees the plain value and shows the type's visitor an enum.
pub(super) struct WatchEnum<'p, 'w, V>(pub(super) Watch<'p, 'w, V>);

impl<'de, V: Visitor<'de>> WatchEnum<'_, '_, V> {
    #[inline]
    fn word<E: Error>(self, text: Text<'de, '_>) -> Result<V::Value, E> {
        self.0.at.string(text.as_str()).map_err(refused)?;
        self.0.walked.set(true);
        self.0.visitor.visit_enum(Word::new(text))
    }
}

impl<'de, V: Visitor<'de>> Visitor<'de> for WatchEnum<'_, '_, V> {
    type Value = V::Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.visitor.expecting(f)
    }

    #[inline]
    fn visit_str<E: Error>(self, text: &str) -> Result<V::Value, E> {
        self.word(Text::Copied(text))
    }

    #[inline]
    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<V::Value, E> {
        self.word(Text::Borrowed(text))
    }

    #[inline]
    fn visit_map<A: MapAccess<'de>>(self, inner: A) -> Result<V::Value, A::Error> {
        let mut map = CheckedMap::new(inner, self.0.at.object().map_err(refused)?);
        let value = self.0.visitor.visit_enum(Variant(&mut map))?;
        map.finish()?;
        self.0.walked.set(true);
        Ok(value)
    }
}

/// An object's one key as a variant, and its value as the content.
struct Variant<M>(M);

impl<'de, 'm, 'p, A: MapAccess<'de>> EnumAccess<'de> for Variant<&'m mut CheckedMap<'p, 'de, A>> {
    type Error = A::Error;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), A::Error> {
        match self.0.next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(refused(Refused)),
        }
    }
}

impl<'de, A: MapAccess<'de>> VariantAccess<'de> for Variant<&mut CheckedMap<'_, 'de, A>> {
    type Error = A::Error;

    fn unit_variant(self) -> Result<(), A::Error> {
        self.0.next_value()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, A::Error> {
        self.0.next_value_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, A::Error> {
        self.0.next_value_seed(Content { visitor, fields: None })
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, A::Error> {
        let fields = Some(fields);
        self.0.next_value_seed(Content { visitor, fields })
    }
}

/// The content of a variant, read as a struct where it has named fields and as an array where it has not.
struct Content<V> {
    visitor: V,
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Content<V> {
    type Value = V::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<V::Value, D::Error> {
        match self.fields {
            Some(fields) => content.deserialize_struct("", fields, self.visitor),
            None => content.deserialize_seq(self.visitor),
        }
    }
}
