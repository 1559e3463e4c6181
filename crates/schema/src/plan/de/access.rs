//! Deserialization of the values in arrays and objects.
//!
//! Reading recurses between this file and `de.rs`: a value hands its items or entries to a visitor, whose seeds read
//! the values inside.

use std::borrow::Cow;

use serde::de::{DeserializeSeed, MapAccess, SeqAccess};

use super::super::error::PlanError;
use super::map::{Entries, Next, Step};
use super::read;
use super::seq::Elements;
use super::text::{Key, StringValue, Text};

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
            Step::Property(property) => seed.deserialize(Key(Text::Named(property.name()))),
            Step::End => return Ok(None),
            Step::Other => match self.key() {
                Ok(Some(Cow::Borrowed(key))) => seed.deserialize(Key(Text::Borrowed(key))),
                Ok(Some(Cow::Owned(key))) => seed.deserialize(Key(Text::Resolved(&key))),
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
