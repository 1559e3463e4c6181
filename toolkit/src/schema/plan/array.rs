//! The rules for an array and the walk over one.

use super::node::{ANY, NEVER, Node, NodeId};
use super::{Plan, Refused, ok};

/// `prefixItems`, `items`, `minItems` and `maxItems`.
pub(super) struct Array {
    pub(super) prefix: Box<[NodeId]>,
    pub(super) items: NodeId,
    pub(super) least: usize,
    pub(super) most: usize,
}

/// How far into an array the walk is.
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

    /// What holds for the item that comes next: past `maxItems`, nothing is allowed.
    #[inline]
    pub(super) fn next(&mut self, plan: &'p Plan) -> &'p Node {
        let id = match self.rule {
            None => ANY,
            Some(rule) if self.count >= rule.most => NEVER,
            Some(rule) => rule.prefix.get(self.count).copied().unwrap_or(rule.items),
        };
        self.count += 1;
        plan.node(id)
    }

    #[inline]
    pub(super) fn finish(&self) -> Result<(), Refused> {
        ok(self.rule.is_none_or(|rule| self.count >= rule.least))
    }
}
