//! Detection of shared pointers such as an owned `Arc<Db>`, which are meant as injected state.

use std::rc::Rc;
use std::sync::Arc;

use super::argument::Candidate;

impl<T: ?Sized> Candidate<Arc<T>> {
    /// True: the type is a shared pointer.
    pub const SHARES: bool = true;
}

impl<T: ?Sized> Candidate<Rc<T>> {
    /// True: the type is a shared pointer.
    pub const SHARES: bool = true;
}

/// The default for all other types.
pub trait OwnsAlone {
    /// False: the type is not a shared pointer.
    const SHARES: bool = false;
}

impl<T: ?Sized> OwnsAlone for Candidate<T> {}
