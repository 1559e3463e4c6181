//! The rules for an array and the walk over one.

use super::at::{At, ok};
use super::node::{ANY, NEVER, NodeId};
use super::{Plan, Refused};

/// `prefixItems`, `items`, `minItems` and `maxItems`.
pub(super) struct Array {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// How far into an array the walk is.
pub(super) struct Items<'p> {
    plan: &'p Plan,
    rule: Option<&'p Array>,
    count: usize,
}

impl<'p> Items<'p> {
    #[inline]
    pub(super) fn new(plan: &'p Plan, rule: Option<&'p Array>) -> Self {
        Items { plan, rule, count: 0 }
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// What holds for the item that comes next, if one does: past `maxItems`, nothing is allowed.
    #[inline]
    pub(super) fn next(&self) -> At<'p> {
        let id = match self.rule {
            None => ANY,
            Some(rule) if self.count >= rule.most => NEVER,
            Some(rule) => rule.prefix.get(self.count).copied().unwrap_or(rule.items),
        };
        At::new(self.plan, id)
    }

    /// The item that `next` spoke of was there and is valid.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.count += 1;
    }

    #[inline]
    pub(super) fn finish(&self) -> Result<(), Refused> {
        ok(self.rule.is_none_or(|rule| self.count >= rule.least))
    }
}
