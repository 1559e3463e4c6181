//! The keys of an object that its schema does not name, to find the one that comes twice.

use std::borrow::Cow;
use std::collections::HashSet;

use super::super::Refused;
use super::super::at::ok;
use super::text::Text;

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
    pub(super) fn add(&mut self, key: Text<'de, '_>) -> Result<(), Refused> {
        let name = key.as_str();
        let few = self.few.get_or_insert([""; FEW]);
        ok(!few[..self.count].contains(&name))?;
        if let Text::Borrowed(name) = key
            && self.count < FEW
            && self.more.is_none()
        {
            few[self.count] = name;
            self.count += 1;
            return Ok(());
        }
        let name = match key {
            Text::Borrowed(name) => Cow::Borrowed(name),
            Text::Copied(name) => Cow::Owned(name.to_owned()),
        };
        ok(self.more.get_or_insert_default().insert(name))
    }
}
