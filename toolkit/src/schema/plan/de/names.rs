//! The keys of an object that its schema does not name, to find the one that comes twice.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::refused::Refused;
use super::super::refused::ok;

/// How many keys are compared one by one, without allocating.
const FEW: usize = 8;

/// The keys met so far.
#[derive(Default)]
pub(super) struct Names<'de> {
    few: Option<[&'de str; FEW]>,
    count: usize,
    /// Keys beyond the first few, and those with escapes, which are not in the input as they read.
    more: Option<HashSet<Cow<'de, str>>>,
}

impl<'de> Names<'de> {
    /// Takes note of a key, unless it was there before.
    #[expect(clippy::ptr_arg, reason = "only what is borrowed from the input can be kept without a copy")]
    pub(super) fn add(&mut self, key: &Cow<'de, str>) -> Result<(), Refused> {
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
