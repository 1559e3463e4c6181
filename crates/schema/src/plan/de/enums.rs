//! Deserialization of an enum from an object: its only key is the variant, and the value is the content.

use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, Unexpected, VariantAccess, Visitor};

use super::super::error::PlanError;
use super::map::Entries;

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
        (&mut self.0).next_value_seed(Content { visitor, fields: None })
    }

    #[inline]
    fn struct_variant<V: Visitor<'de>>(
        mut self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PlanError> {
        (&mut self.0).next_value_seed(Content { visitor, fields: Some(fields) })
    }
}

/// The content of a variant, read as a struct if it has named fields and as an array otherwise.
struct Content<V> {
    visitor: V,
    fields: Option<&'static [&'static str]>,
}

impl<'de, V: Visitor<'de>> DeserializeSeed<'de> for Content<V> {
    type Value = V::Value;

    #[inline]
    fn deserialize<D: Deserializer<'de>>(self, content: D) -> Result<V::Value, D::Error> {
        match self.fields {
            Some(fields) => content.deserialize_struct(VARIANT, fields, self.visitor),
            None => content.deserialize_seq(self.visitor),
        }
    }
}
