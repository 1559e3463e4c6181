//! The rules of a schema, by the type of the JSON value.

use std::sync::Arc;

use super::array::{Array, Items};
use super::error::{PlanError, ok};
use super::number::Number;
use super::object::{Members, Object};
use super::string::Text;

/// The rules for a value, by its type. A missing rule restricts only the type.
pub(super) struct Node {
    pub(super) kinds: Kinds,
    pub(super) number: Option<Arc<Number>>,
    pub(super) string: Option<Arc<Text>>,
    pub(super) array: Option<Arc<Array>>,
    pub(super) object: Option<Arc<Object>>,
}

impl Node {
    pub(super) fn plain(kinds: Kinds) -> Node {
        Node { kinds, number: None, string: None, array: None, object: None }
    }

    #[inline]
    pub(super) fn allow(&self, kind: Kinds) -> Result<(), PlanError> {
        ok(self.kinds.meets(kind))
    }

    #[inline]
    pub(super) fn null(&self) -> Result<(), PlanError> {
        self.allow(Kinds::NULL)
    }

    #[inline]
    pub(super) fn boolean(&self, value: bool) -> Result<(), PlanError> {
        self.allow(if value { Kinds::TRUE } else { Kinds::FALSE })
    }

    /// Checks a non-negative integer that `serde_json` stores as an integer.
    #[inline]
    pub(super) fn unsigned(&self, value: u64) -> Result<(), PlanError> {
        self.allow(Kinds::INTEGER)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_unsigned(value)))
    }

    /// Checks a negative integer that `serde_json` stores as an integer.
    #[inline]
    pub(super) fn negative(&self, value: i64) -> Result<(), PlanError> {
        self.allow(Kinds::INTEGER)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_negative(value)))
    }

    /// Checks a finite number that `serde_json` reads as a float.
    #[inline]
    pub(super) fn float(&self, value: f64) -> Result<(), PlanError> {
        self.allow(Kinds::FLOAT)?;
        ok(self.number.as_ref().is_none_or(|rule| rule.admits_float(value)))
    }

    #[inline]
    pub(super) fn string(&self, value: &str) -> Result<(), PlanError> {
        self.allow(Kinds::STRING)?;
        ok(self.string.as_ref().is_none_or(|rule| rule.admits(value)))
    }

    #[inline]
    pub(super) fn array(&self) -> Result<Items<'_>, PlanError> {
        self.allow(Kinds::ARRAY)?;
        Ok(Items::new(self.array.as_deref()))
    }

    #[inline]
    pub(super) fn object(&self) -> Result<Members<'_>, PlanError> {
        self.allow(Kinds::OBJECT)?;
        Ok(Members::new(self.object.as_deref()))
    }
}

/// A set of kinds of JSON values, finer than JSON types so that it includes boolean constants and `integer`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

impl Kinds {
    pub(super) const NONE: Kinds = Kinds(0);
    pub(super) const NULL: Kinds = Kinds(1);
    pub(super) const TRUE: Kinds = Kinds(1 << 1);
    pub(super) const FALSE: Kinds = Kinds(1 << 2);
    pub(super) const INTEGER: Kinds = Kinds(1 << 3);
    /// A number that `serde_json` stores as a float. `1.0` is one although it is also an `integer`. Where only integers
    /// are allowed it is refused, which is safe.
    pub(super) const FLOAT: Kinds = Kinds(1 << 4);
    pub(super) const STRING: Kinds = Kinds(1 << 5);
    pub(super) const ARRAY: Kinds = Kinds(1 << 6);
    pub(super) const OBJECT: Kinds = Kinds(1 << 7);
    pub(super) const ALL: Kinds = Kinds(u8::MAX);

    /// Returns the kinds of a type named by `type`.
    pub(super) fn from_type(name: &str) -> Option<Kinds> {
        Some(match name {
            "null" => Kinds::NULL,
            "boolean" => Kinds::TRUE.or(Kinds::FALSE),
            "integer" => Kinds::INTEGER,
            "number" => Kinds::INTEGER.or(Kinds::FLOAT),
            "string" => Kinds::STRING,
            "array" => Kinds::ARRAY,
            "object" => Kinds::OBJECT,
            _ => return None,
        })
    }

    pub(super) const fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    pub(super) const fn and(self, other: Kinds) -> Kinds {
        Kinds(self.0 & other.0)
    }

    #[inline]
    pub(super) const fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the index of a single kind, from 0 to 7.
    #[inline]
    pub(super) const fn index(self) -> usize {
        (self.0.trailing_zeros() & 7) as usize
    }

    /// Iterates over the kinds of the set.
    pub(super) fn each(self) -> impl Iterator<Item = Kinds> {
        (0..8).map(|bit| Kinds(1 << bit)).filter(move |kind| self.meets(*kind))
    }
}
