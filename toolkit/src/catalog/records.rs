//! The index from the static entry of a function to its tool.

use std::hash::BuildHasher;
use std::ptr;
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;

use super::Entry;
use crate::tool::Tool;

/// The tools of linked functions, by the address of their entry.
///
/// Only typed calls and `blocking` tools use the index, so it is built on first use.
#[derive(Debug, Default)]
pub(super) struct Records {
    table: OnceLock<HashTable<u32>>,
    hasher: RandomState,
}

impl Records {
    /// Returns the tool of this entry, if it is among `tools`, which are sorted by id.
    #[inline]
    pub(super) fn get<'t>(&self, tools: &'t [Tool], entry: &'static Entry) -> Option<&'t Tool> {
        let table = self.table.get_or_init(|| self.index(tools));
        let found = table.find(self.hash(entry), |&idx| is_of(&tools[idx as usize], entry));
        found.map(|&idx| &tools[idx as usize]).or_else(|| copy_of(tools, entry))
    }

    #[cold]
    fn index(&self, tools: &[Tool]) -> HashTable<u32> {
        let hash = |idx: &u32| tools[*idx as usize].static_entry().map_or(0, |entry| self.hash(entry));
        let mut table = HashTable::with_capacity(tools.len());
        for (idx, tool) in (0..).zip(tools) {
            if let Some(entry) = tool.static_entry() {
                table.insert_unique(self.hash(entry), idx, hash);
            }
        }
        table
    }

    #[inline]
    fn hash(&self, entry: &'static Entry) -> u64 {
        self.hasher.hash_one(ptr::from_ref(entry).addr())
    }
}

#[inline]
fn is_of(tool: &Tool, entry: &'static Entry) -> bool {
    tool.static_entry().is_some_and(|of_tool| ptr::eq(of_tool, entry))
}

/// Finds the tool of a duplicate entry: a crate that is linked twice into its own tests has two entries of each tool,
/// and the catalog keeps one.
#[cold]
fn copy_of<'t>(tools: &'t [Tool], entry: &'static Entry) -> Option<&'t Tool> {
    let wanted = Tool::linked(entry);
    let found = tools.binary_search_by(|tool| (tool.id(), tool.location()).cmp(&(wanted.id(), wanted.location())));
    found.ok().map(|idx| &tools[idx])
}
