//! A value that is the only property of an object, and read without the object.

use std::marker::PhantomData;

use serde::de::{Error, IgnoredAny};

use super::super::node::Plan;
use super::super::node::PlanNode;
use super::super::plan_error::PlanError;
use super::cursor::Cursor;
use super::map::{Entries, EntryStep, Next};
use super::request::{self, TypeRequest};
use super::value::Value;
use super::{Read, read, read_with};

/// The only property of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SoleProperty([&'static str; 1]);

impl SoleProperty {
    /// Creates a property.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self([name])
    }

    /// Returns the name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.0[0]
    }
}

/// Reads a value, or the value of the only property of an object if one is given.
///
/// A tool's only argument may be either, and its type is compiled once for both.
#[inline]
pub(in super::super) fn read_root<'p>(
    cursor: &mut Cursor<'p, '_>,
    node: &'p PlanNode,
    property: Option<&'static SoleProperty>,
    read: &mut Read<'_>,
) -> Result<(), PlanError> {
    match property {
        None => read_with(cursor, node, read),
        Some(property) => read_property(cursor, node, property, read),
    }
}

fn read_property<'p>(
    cursor: &mut Cursor<'p, '_>,
    node: &'p PlanNode,
    property: &'static SoleProperty,
    read: &mut Read<'_>,
) -> Result<(), PlanError> {
    cursor.peek();
    let start = cursor.position();
    let outcome = match Entries::open(&mut *cursor, node) {
        Ok(mut entries) => {
            let outcome = entries.read_only(property, read);
            entries.close(outcome.is_ok())
        }
        Err(PlanError) => Err(cursor.not_an_object(property)),
    };
    outcome.map_err(|PlanError| cursor.fail_from(start))
}

/// Reads the value of a property that is absent: `None` for an option, no value for most other types.
pub(in super::super) fn read_absent(property: &'static SoleProperty, read: &mut Read<'_>) -> Result<(), PlanError> {
    let plan = Plan::anything();
    let outcome = read(Value { cursor: &mut Cursor::absent(plan), node: plan.root() });
    outcome.map_err(|PlanError| PlanError::missing_field(property.name()))
}

impl<'p> Entries<'_, 'p, '_> {
    /// Reads the value of the property, and moves past all others.
    fn read_only(&mut self, property: &'static SoleProperty, read: &mut Read<'_>) -> Result<(), PlanError> {
        match self.find(property)? {
            Some(node) => read_with(self.cursor, node, read)?,
            None => read_absent(property, read)?,
        }
        self.skip_others(property)
    }

    /// Moves to the value of the property. Returns `None` at the end of the object.
    fn find(&mut self, property: &'static SoleProperty) -> Result<Option<&'p PlanNode>, PlanError> {
        while let Some(is_found) = self.next_is(property)? {
            let Next::Value(node) = self.take_next() else { return Err(self.cursor.fail()) };
            if is_found {
                return Ok(Some(node));
            }
            read(self.cursor, node, PhantomData::<IgnoredAny>)?;
        }
        Ok(None)
    }

    /// Moves past the properties that follow, none of which may be `property`.
    fn skip_others(&mut self, property: &'static SoleProperty) -> Result<(), PlanError> {
        match self.find(property)? {
            Some(_) => Err(PlanError::duplicate_field(property.name())),
            None => Ok(()),
        }
    }

    /// Moves to the value of the next key. Returns true if the key is that of the property, and `None` at the end.
    fn next_is(&mut self, property: &'static SoleProperty) -> Result<Option<bool>, PlanError> {
        match self.property() {
            EntryStep::Property(found) => Ok(Some(found.name() == property.name())),
            EntryStep::End => Ok(None),
            EntryStep::Other => Ok(self.key()?.map(|key| key == property.name())),
        }
    }
}

impl Cursor<'_, '_> {
    /// Fails because the next value is not an object with the property.
    #[cold]
    fn not_an_object(&mut self, property: &'static SoleProperty) -> PlanError {
        request::record_request(TypeRequest::Struct(&property.0));
        self.other_kind(&&*format!("an object with the key `{}`", property.name()))
    }
}
