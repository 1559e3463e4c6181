//! The undeclared keys of an object, to detect duplicates.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::error::PlanError;
use super::super::error::ok;

/// The number of keys that are compared linearly, without allocation.
const FEW: usize = 8;

/// The keys that have occurred.
#[derive(Default)]
pub(super) struct Names<'de> {
    few: Option<[&'de str; FEW]>,
    count: usize,
    /// Keys beyond the first few, and keys with escapes, which are not contained in the input verbatim.
    more: Option<HashSet<Cow<'de, str>>>,
}

impl<'de> Names<'de> {
    /// Adds a key. Returns an error if it is a duplicate.
    #[expect(clippy::ptr_arg, reason = "only what is borrowed from the input can be kept without a copy")]
    pub(super) fn add(&mut self, key: &Cow<'de, str>) -> Result<(), PlanError> {
        let few = self.few.get_or_insert([""; FEW]);
        ok(!few[..self.count].contains(&&**key))?;
        if let Cow::Borrowed(name) = key
            && self.count < FEW
            && self.more.is_none()
        {
            few[self.count] = name;
            self.count += 1;
            return Ok(());
        }
        ok(self.more.get_or_insert_default().insert(key.clone()))
    }
}
