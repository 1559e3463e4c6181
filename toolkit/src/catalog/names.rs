//! The index of all names of tools.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use foldhash::fast::RandomState;

use crate::tool::{Diagnostic, Text, Tool};

/// A map from ids, ids without a version, bare names and aliases to the indexes of tools.
#[derive(Clone, Default)]
pub struct Names {
    owners: HashMap<Text, Owner, RandomState>,
    /// The index of the latest version of each tool: its highest release, or its highest pre-release without a release.
    pub(crate) latest: Vec<usize>,
}

/// The tool of a name, or the tools in several namespaces that share a bare name.
#[derive(Clone)]
enum Owner {
    One(usize),
    Several(Vec<usize>),
}

impl Owner {
    fn first(&self) -> usize {
        match self {
            Owner::One(idx) => *idx,
            Owner::Several(idxs) => idxs[0],
        }
    }
}

impl Names {
    /// Indexes tools that are sorted by id. An alias that is already the name of another tool is reported.
    pub fn new(tools: &[Tool], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut names = Self::default();
        for (idx, tool) in tools.iter().enumerate() {
            names.add_id(tools, idx, tool.id_text(), diagnostics);
        }
        // The versions of one tool are adjacent and in ascending order.
        let mut start = 0;
        for versions in tools.chunk_by(is_same_tool) {
            let highest_release = versions.iter().rposition(is_release);
            let latest = start + highest_release.unwrap_or(versions.len() - 1);
            start += versions.len();
            names.latest.push(latest);
            if tools[latest].id().namespace().is_some() {
                names.owners.insert(tools[latest].unversioned_text(), Owner::One(latest));
            }
            names.add_bare(tools, latest);
        }
        for (idx, tool) in tools.iter().enumerate() {
            for alias in tool.alias_texts() {
                names.add_alias(tools, idx, alias, diagnostics);
            }
        }
        names
    }

    /// Returns the index of the tool that a name resolves to, if it is unambiguous.
    #[inline]
    pub fn get(&self, name: &str) -> Option<usize> {
        match self.owners.get(name)? {
            Owner::One(idx) => Some(*idx),
            Owner::Several(_) => None,
        }
    }

    /// Returns the indexes of the tools in several namespaces that share a bare name.
    pub fn several(&self, name: &str) -> Option<&[usize]> {
        match self.owners.get(name)? {
            Owner::One(_) => None,
            Owner::Several(idxs) => Some(idxs),
        }
    }

    /// Returns all names in arbitrary order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.owners.keys().map(|name| &**name)
    }

    /// Assigns the id to a tool. Ids with different parts have the same text only if a name contains a colon, which is
    /// invalid.
    fn add_id(&mut self, tools: &[Tool], idx: usize, id: Text, diagnostics: &mut Vec<Diagnostic>) {
        match self.owners.entry(id) {
            Slot::Vacant(slot) => drop(slot.insert(Owner::One(idx))),
            Slot::Occupied(slot) => {
                let other = &tools[slot.get().first()];
                if !other.id().prints_as(tools[idx].id()) {
                    diagnostics.push(Diagnostic::duplicate_id(other, &tools[idx]));
                }
            }
        }
    }

    fn add_bare(&mut self, tools: &[Tool], idx: usize) {
        let has_namespace = |idx: usize| tools[idx].id().namespace().is_some();
        match self.owners.entry(tools[idx].name_text()) {
            Slot::Vacant(slot) => drop(slot.insert(Owner::One(idx))),
            Slot::Occupied(mut slot) => match slot.get_mut() {
                Owner::Several(idxs) => idxs.push(idx),
                // A bare name resolves to the tool without a namespace, even if others share it.
                Owner::One(found) if !has_namespace(idx) => *found = idx,
                Owner::One(found) if !has_namespace(*found) => {}
                Owner::One(found) => {
                    let several = vec![*found, idx];
                    slot.insert(Owner::Several(several));
                }
            },
        }
    }

    fn add_alias(&mut self, tools: &[Tool], idx: usize, alias: Text, diagnostics: &mut Vec<Diagnostic>) {
        match self.owners.entry(alias) {
            Slot::Vacant(slot) => drop(slot.insert(Owner::One(idx))),
            Slot::Occupied(mut slot) => {
                let other = slot.get().first();
                // Versions of one tool may share an alias; it resolves to the highest version.
                if !is_same_tool(&tools[other], &tools[idx]) {
                    diagnostics.push(Diagnostic::alias_taken(slot.key(), &tools[idx], &tools[other]));
                } else if idx > other {
                    slot.insert(Owner::One(idx));
                }
            }
        }
    }
}

fn is_same_tool(a: &Tool, b: &Tool) -> bool {
    (a.id().namespace(), a.id().name()) == (b.id().namespace(), b.id().name())
}

fn is_release(tool: &Tool) -> bool {
    tool.id().version().is_none() || tool.id().semver().is_some_and(|version| version.pre.is_empty())
}

crate::debug_fields!(it, Names { len: it.owners.len() });
