//! What is said of an owned `Arc<Db>`: it is meant as state, which a tool borrows.

use std::rc::Rc;
use std::sync::Arc;

use super::argument::Candidate;

impl<T: ?Sized> Candidate<Arc<T>> {
    /// It is a shared pointer.
    pub const SHARES: bool = true;
}

impl<T: ?Sized> Candidate<Rc<T>> {
    /// It is a shared pointer.
    pub const SHARES: bool = true;
}

/// The answer for all other types.
pub trait OwnsAlone {
    /// It is no shared pointer.
    const SHARES: bool = false;
}

impl<T: ?Sized> OwnsAlone for Candidate<T> {}
