//! What is said of an owned `Arc<Db>`: it is meant as state, which a tool borrows.

use std::rc::Rc;
use std::sync::Arc;

use super::argument::{Candidate, Pick};

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

/// Reads as a sentence in rustc's "required by a bound in".
pub const fn is_not_shared<const SHARES: bool, T>()
where
    Pick<SHARES>: NotShared<T>,
{
}

/// Implemented where nothing is shared; only the wording of the refusal is used.
pub trait NotShared<T> {}

impl<T> NotShared<T> for Pick<false> {}

impl<T: ?Sized + Lendable> NotShared<Arc<T>> for Pick<true> {}

impl<T: ?Sized + Lendable> NotShared<Rc<T>> for Pick<true> {}

/// Implemented by nothing.
#[diagnostic::on_unimplemented(
    message = "a shared pointer to `{Self}` cannot be a tool argument",
    label = "not a tool argument",
    note = "state is borrowed: write `&{Self}`, and pass the `Arc` to the dispatcher with `DispatcherBuilder::shared_state`"
)]
pub trait Lendable {}
