//! The limits of a schema.

/// The maximum depth of a schema, counted in nested arrays and objects.
pub(super) const MAX_DEPTH: usize = 127;

/// The maximum number of subschemas.
pub(super) const MAX_SUBSCHEMAS: usize = 65_536;
