//! Limits of a schema.

/// How deep a schema may be nested, in lists and objects.
pub(super) const MAX_DEPTH: usize = 127;

/// How many subschemas a schema may have.
pub(super) const MAX_SUBSCHEMAS: usize = 65_536;
