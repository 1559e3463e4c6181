//! Inheritance of arguments: from a module to an `impl` block, and from an `impl` block to a method.

use crate::attribute::Attribute;

impl Attribute {
    /// Fills in missing arguments from the outer attribute; tags add up.
    pub(crate) fn inherit(mut self, outer: &Self) -> Self {
        self.namespace = self.namespace.or_else(|| outer.namespace.clone());
        self.version = self.version.or_else(|| outer.version.clone());
        self.category = self.category.or_else(|| outer.category.clone());
        self.krate = self.krate.or_else(|| outer.krate.clone());
        self.timeout = self.timeout.or(outer.timeout);
        self.show_errors = self.show_errors.or(outer.show_errors);
        // An inherited hint that contradicts a hint of the attribute itself is dropped.
        self.read_only = self.read_only.or(outer.read_only.filter(|_| self.destructive != Some(true)));
        self.destructive = self.destructive.or(outer.destructive.filter(|_| self.read_only != Some(true)));
        self.idempotent = self.idempotent.or(outer.idempotent);
        self.open_world = self.open_world.or(outer.open_world);
        let own = std::mem::take(&mut self.tags);
        self.tags = outer.tags.iter().filter(|tag| !own.contains(tag)).cloned().chain(own.clone()).collect();
        self
    }
}
