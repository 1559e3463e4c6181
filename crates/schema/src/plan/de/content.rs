//! Deserialization of the values in arrays and objects, and of enums.
//!
//! Reading recurses between this file and `de.rs`: a value hands its items or entries to a visitor, whose seeds read the
//! values inside.

use std::borrow::Cow;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};

use super::map::{Elements, Entries, EntryStep, Next};
use super::read;
use super::text::{KeyText, StringValue, Text};
use crate::plan::plan_error::PlanError;

impl<'de> SeqAccess<'de> for &mut Elements<'_, '_, 'de> {
    type Error = PlanError;

    #[inline]
    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, PlanError> {
        match self.next() {
            Ok(Some(node)) => match read(self.cursor, node, seed) {
                Ok(value) => Ok(Some(value)),
                Err(error) => Err(error),
            },
            Ok(None) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl<'de> MapAccess<'de> for &mut Entries<'_, '_, 'de> {
    type Error = PlanError;

    #[inline]
    fn next_key_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, PlanError> {
        let key = match self.property() {
            EntryStep::Property(property) => seed.deserialize(KeyText(Text::Named(property.name()))),
            EntryStep::End => return Ok(None),
            EntryStep::Other => match self.key() {
                Ok(Some(Cow::Borrowed(key))) => seed.deserialize(KeyText(Text::Borrowed(key))),
                Ok(Some(Cow::Owned(key))) => seed.deserialize(KeyText(Text::Resolved(&key))),
                Ok(None) => return Ok(None),
                Err(PlanError) => return Err(PlanError),
            },
        };
        match key {
            Ok(key) => Ok(Some(key)),
            Err(PlanError) => Err(self.fail_key()),
        }
    }

    #[inline]
    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, PlanError> {
        match self.take_next() {
            Next::Value(node) => read(self.cursor, node, seed),
            Next::Tag(tag) => match self.tag(tag)? {
                Cow::Borrowed(value) => seed.deserialize(StringValue(Text::Borrowed(value))),
                Cow::Owned(value) => seed.deserialize(StringValue(Text::Resolved(&value))),
            },
            Next::Key => Err(self.cursor.fail()),
        }
    }
}

/// The name of the struct that is the content of a variant.
pub(super) const VARIANT: &str = "";

/// The only key of an object as a variant, and its value as the content.
pub(super) struct Variant<'e, 'c, 'p, 'de>(pub(super) &'e mut Entries<'c, 'p, 'de>);

impl<'de> EnumAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = PlanError;
    type Variant = Self;

    #[inline]
    fn variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<(S::Value, Self), PlanError> {
        match (&mut self.0).next_key_seed(seed)? {
            Some(variant) => Ok((variant, self)),
            None => Err(Error::invalid_value(Unexpected::Map, &"map with a single key")),
        }
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, '_, '_, 'de> {
    type Error = PlanError;

    fn unit_variant(mut self) -> Result<(), PlanError> {
        (&mut self.0).next_value()
    }

    #[inline]
    fn newtype_variant_seed<S: DeserializeSeed<'de>>(mut self, seed: S) -> Result<S::Value, PlanError> {
        (&mut self.0).next_value_seed(seed)
    }

    #[inline]
    fn tuple_variant<V: Visitor<'de>>(mut self, _: usize, visitor: V) -> Result<V::Value, PlanError> {
        (&mut self.0).next_value_seed(VariantContent { visitor, fields: None })
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        (&mut self.0).next_value_seed(VariantContent { visitor, fields: Some(fields) })
    }
}

/// The content of a variant, read as a struct if it has named fields and as an array otherwise.
struct VariantContent<V> {
    visitor: V,
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for VariantContent<V> {
    type Value = V::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<V::Value, D::Error> {
        match self.fields {
            Some(fields) => content.deserialize_struct(VARIANT, fields, self.visitor),
            None => content.deserialize_seq(self.visitor),
        }
    }
}
