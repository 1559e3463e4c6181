//! The rules for arrays, and their state while one is walked.

use super::error::{PlanError, ok};
use super::id::{ANY, NEVER, NodeId};

/// The rules of `prefixItems`, `items`, `minItems`, `maxItems` and `uniqueItems`.
pub(super) struct Array {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) unique: bool,
}

/// The state of walking an array.
pub(super) struct Items<'p> {
    rule: Option<&'p Array>,
    count: usize,
}

impl<'p> Items<'p> {
    #[inline]
    pub(super) fn new(rule: Option<&'p Array>) -> Self {
        Items { rule, count: 0 }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the node of the next item. Beyond `maxItems`, nothing is allowed.
    #[inline]
    pub(super) fn next(&mut self) -> NodeId {
        let id = match self.rule {
            None => ANY,
            Some(rule) if self.count >= rule.most => NEVER,
            Some(rule) => rule.prefix.get(self.count).copied().unwrap_or(rule.items),
        };
        self.count += 1;
        id
    }

    /// Checks the number of items and their uniqueness. `json` returns the text of the whole array.
    #[inline]
    pub(super) fn finish<'j>(&self, json: impl FnOnce() -> &'j [u8]) -> Result<(), PlanError> {
        ok(self.rule.is_none_or(|rule| {
            rule.least <= self.count && (!rule.unique || self.count < 2 || certainly_differ(json()))
        }))
    }
}

/// Returns true if the items of an array certainly differ. Only strings and integers are compared; for others a tree is
/// needed, where `1` equals `1.0`.
#[inline(never)]
fn certainly_differ(json: &[u8]) -> bool {
    fn differ<T: Ord>(mut items: Vec<T>) -> bool {
        items.sort_unstable();
        items.windows(2).all(|two| two[0] != two[1])
    }
    if let Ok(texts) = serde_json::from_slice::<Vec<String>>(json) {
        return differ(texts);
    }
    serde_json::from_slice::<Vec<i64>>(json).is_ok_and(differ)
}
