//! The shapes of values, and the constants among them.

use serde_json::Value;

use super::{Field, View};

/// The shape of the values that match a schema, without `null` if the schema also accepts others.
///
/// See [`view`](crate::view) for an example.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape<'s> {
    /// Only `null`.
    Null,
    /// `true` or `false`.
    Boolean,
    /// A number without a fraction.
    Integer,
    /// A number.
    Number,
    /// A string. Its format and its pattern are among the [`limits`](View::limits).
    Text,
    /// One of these values.
    Constants(Vec<Constant<'s>>),
    /// A list of such items, if the schema declares them.
    List(Option<View<'s>>),
    /// A list whose first items have these schemas.
    Tuple(Vec<View<'s>>),
    /// An object with keys of the caller's choice, and such values, if the schema declares them.
    Map(Option<View<'s>>),
    /// An object with these fields.
    Object(Vec<Field<'s>>),
    /// A value of one of these shapes.
    Union(Vec<View<'s>>),
    /// Any value, as far as the schema can be summarized.
    Any,
}

/// A value of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Constant<'s> {
    /// The value.
    pub value: &'s Value,
    /// Its description: that of its branch, or a line of the enumeration's such as ``- `fast`: In a hurry.``
    pub description: Option<&'s str>,
}
