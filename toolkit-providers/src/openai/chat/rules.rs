//! The differences between the APIs that share this format.

/// The differences between the APIs that share this format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules {
    /// Returns true if a request may contain an id.
    pub(crate) accepts_id: fn(&str) -> bool,
    /// The arguments of a call may be an object instead of its JSON text.
    pub(crate) accepts_objects: bool,
}
