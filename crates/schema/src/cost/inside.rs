//! The number of visits to the values inside a value.

use std::collections::HashMap;

use super::super::graph::Label;

/// The number of visits to the values inside, by key or index.
#[derive(Clone, Default)]
pub(super) struct Inside<'s> {
    pub(super) named: HashMap<Label<'s>, u64>,
    pub(super) other_keys: u64,
    pub(super) other_items: u64,
}

impl<'s> Inside<'s> {
    pub(super) fn most(&self) -> u64 {
        self.named.values().copied().fold(self.other_keys.max(self.other_items), u64::max)
    }

    fn rest(&self, label: Label<'s>) -> u64 {
        match label {
            Label::Key(_) => self.other_keys,
            Label::Index(_) => self.other_items,
        }
    }

    pub(super) fn add_everywhere(&mut self, keys: u64, items: u64) {
        for (label, visits) in &mut self.named {
            let more = if matches!(label, Label::Key(_)) { keys } else { items };
            *visits = visits.saturating_add(more);
        }
        self.other_keys = self.other_keys.saturating_add(keys);
        self.other_items = self.other_items.saturating_add(items);
    }

    pub(super) fn add(&mut self, more: &Self) {
        self.join(more, u64::saturating_add);
    }

    /// Combines the counts of branches. Of an object only one branch is visited; of an array, which has no tag, every
    /// one.
    pub(super) fn or(&mut self, more: &Self) {
        let items = self.other_items.saturating_add(more.other_items);
        self.join(more, u64::max);
        self.other_items = items;
    }

    fn join(&mut self, more: &Self, with: fn(u64, u64) -> u64) {
        for (label, visits) in &mut self.named {
            *visits = with(*visits, more.named.get(label).copied().unwrap_or_else(|| more.rest(*label)));
        }
        let (keys, items) = (self.other_keys, self.other_items);
        for (label, visits) in &more.named {
            let rest = if matches!(label, Label::Key(_)) { keys } else { items };
            self.named.entry(*label).or_insert_with(|| with(rest, *visits));
        }
        self.other_keys = with(keys, more.other_keys);
        self.other_items = with(items, more.other_items);
    }
}
