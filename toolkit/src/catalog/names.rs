//! The index of all names of tools.

use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use toolkit_schema::suggest::NameIndex;

use crate::tool::{Diagnostic, Text, Tool};

/// A map from ids, ids without a version, bare names and aliases to tools.
///
/// The table stores no text; each name is computed from its tool. Ten thousand tools have thirty thousand names.
#[derive(Default)]
#[doc(hidden)]
pub struct Names {
    table: HashTable<Name>,
    hasher: RandomState,
    /// The tools of each name that several tools share.
    shared: Vec<Vec<usize>>,
    latest: Vec<usize>,
    /// All names and their letters, since the first name that no tool had.
    spellings: OnceLock<(Vec<Name>, NameIndex)>,
}

/// A name: the index of its tool, and the form of the name.
#[derive(Clone, Copy)]
struct Name {
    tool: u32,
    form: Form,
}

#[derive(Clone, Copy)]
enum Form {
    Id,
    /// The id without its version.
    Unversioned,
    /// The bare name.
    Bare,
    /// An alias, by its index in the list.
    Alias(u32),
    /// A bare name that several tools share, by its index in `shared`.
    Shared(u32),
}

impl Names {
    /// Indexes tools that are sorted by id. An alias that is already the name of another tool is reported.
    pub fn new(tools: &[Tool], diagnostics: &mut Vec<Diagnostic>) -> Self {
        let mut names = Self::default();
        // A tool with a namespace has three names: the id, the id without the version, the bare name.
        let n_ids = |tool: &Tool| if tool.id().namespace().is_some() { 3 } else { 1 };
        let n_names = tools.iter().map(|tool| n_ids(tool) + tool.n_aliases()).sum();
        let hasher = names.hasher.clone();
        names.table.reserve(n_names, |name| hash(&hasher, &name.text(tools)));
        for idx in 0..tools.len() {
            names.add_id(tools, idx, diagnostics);
        }
        // The versions of one tool are adjacent and in ascending order.
        let mut start = 0;
        for versions in tools.chunk_by(is_same_tool) {
            let highest_release = versions.iter().rposition(is_release);
            let latest = start + highest_release.unwrap_or(versions.len() - 1);
            start += versions.len();
            names.latest.push(latest);
            if tools[latest].id().namespace().is_some() {
                names.set(tools, Name::new(latest, Form::Unversioned));
            }
            names.add_bare(tools, latest);
        }
        for (idx, tool) in tools.iter().enumerate() {
            for nth in 0..tool.n_aliases() {
                names.add_alias(tools, idx, nth, diagnostics);
            }
        }
        names
    }

    /// Returns the tool that a name resolves to, if it is unambiguous.
    #[inline]
    pub fn get<'t>(&self, tools: &'t [Tool], name: &str) -> Option<&'t Tool> {
        let found = self.find(tools, name)?;
        if let Form::Shared(_) = found.form { None } else { tools.get(found.tool as usize) }
    }

    /// Returns the indexes of the tools in several namespaces that share a bare name.
    pub fn several(&self, tools: &[Tool], name: &str) -> Option<&[usize]> {
        match self.find(tools, name)?.form {
            Form::Shared(place) => self.shared.get(place as usize).map(Vec::as_slice),
            _ => None,
        }
    }

    #[inline]
    fn find(&self, tools: &[Tool], name: &str) -> Option<&Name> {
        self.table.find(hash(&self.hasher, name), |found| found.is(tools, name))
    }

    /// Returns the index of the latest version of each tool: its highest release, or its highest pre-release if there
    /// is no release.
    pub(crate) fn latest(&self) -> &[usize] {
        &self.latest
    }

    /// Returns all names in arbitrary order.
    pub fn iter<'t>(&'t self, tools: &'t [Tool]) -> impl Iterator<Item = Text> + 't {
        self.table.iter().map(|name| name.text(tools))
    }

    /// Returns the name nearest to `typed`, if `typed` could be a typo of it.
    pub(crate) fn nearest(&self, tools: &[Tool], typed: &str) -> Option<Text> {
        let (names, index) = self.spellings.get_or_init(|| {
            let mut names: Vec<Name> = self.table.iter().copied().collect();
            // In the order in which the tools are in memory.
            names.sort_unstable_by_key(|name| name.tool);
            let index = NameIndex::new(names.iter().map(|name| name.text(tools)));
            (names, index)
        });
        let position = index.nearest(typed, |position| names[position].text(tools))?;
        Some(names[position].text(tools))
    }

    /// Assigns a name to a tool, replacing an earlier owner.
    fn set(&mut self, tools: &[Tool], name: Name) {
        match self.slot(tools, &name.text(tools)) {
            Slot::Vacant(slot) => {
                slot.insert(name);
            }
            Slot::Occupied(mut slot) => *slot.get_mut() = name,
        }
    }

    /// Assigns the id to a tool. Ids with different parts have the same text only if a name contains a colon, which is
    /// invalid.
    fn add_id(&mut self, tools: &[Tool], idx: usize, diagnostics: &mut Vec<Diagnostic>) {
        let name = Name::new(idx, Form::Id);
        match self.slot(tools, &name.text(tools)) {
            Slot::Vacant(slot) => {
                slot.insert(name);
            }
            Slot::Occupied(slot) => {
                let other = slot.get().tool as usize;
                if !tools[other].id().prints_as(tools[idx].id()) {
                    diagnostics.push(Diagnostic::duplicate_id(&tools[other], &tools[idx]));
                }
            }
        }
    }

    fn add_bare(&mut self, tools: &[Tool], idx: usize) {
        let place = u32_of(self.shared.len());
        match self.slot(tools, tools[idx].name()) {
            Slot::Vacant(slot) => {
                slot.insert(Name::new(idx, Form::Bare));
            }
            Slot::Occupied(mut slot) => {
                let found = slot.get_mut();
                let has_namespace = |idx: usize| tools[idx].id().namespace().is_some();
                match found.form {
                    Form::Shared(place) => self.shared[place as usize].push(idx),
                    // A bare name resolves to the tool without a namespace, even if others share it.
                    _ if !has_namespace(idx) => found.tool = u32_of(idx),
                    _ if !has_namespace(found.tool as usize) => {}
                    _ => {
                        let several = vec![found.tool as usize, idx];
                        found.form = Form::Shared(place);
                        self.shared.push(several);
                    }
                }
            }
        }
    }

    fn add_alias(&mut self, tools: &[Tool], idx: usize, nth: usize, diagnostics: &mut Vec<Diagnostic>) {
        let alias = tools[idx].alias(nth);
        match self.slot(tools, alias) {
            Slot::Vacant(slot) => {
                slot.insert(Name::new(idx, Form::Alias(u32_of(nth))));
            }
            Slot::Occupied(mut slot) => {
                let other = slot.get().tool as usize;
                // Versions of one tool may share an alias; it resolves to the highest version.
                if !is_same_tool(&tools[other], &tools[idx]) {
                    diagnostics.push(Diagnostic::alias_taken(alias, &tools[idx], &tools[other]));
                } else if idx > other {
                    *slot.get_mut() = Name::new(idx, Form::Alias(u32_of(nth)));
                }
            }
        }
    }

    fn slot(&mut self, tools: &[Tool], name: &str) -> Slot<'_, Name> {
        let Self { table, hasher, .. } = self;
        let place = hash(hasher, name);
        table.entry(place, |found| found.is(tools, name), |found| hash(hasher, &found.text(tools)))
    }
}

impl Name {
    fn new(tool: usize, form: Form) -> Self {
        Self { tool: u32_of(tool), form }
    }

    #[inline]
    fn is(self, tools: &[Tool], text: &str) -> bool {
        let tool = &tools[self.tool as usize];
        match self.form {
            // The program contains the id in one piece, so it is compared as such.
            Form::Id => tool.static_entry().map_or_else(|| tool.id().is_printed_as(text), |entry| entry.id == text),
            Form::Unversioned => tool.id().is_printed_without_version_as(text),
            Form::Bare | Form::Shared(_) => tool.name() == text,
            Form::Alias(nth) => tool.alias(nth as usize) == text,
        }
    }

    fn text(self, tools: &[Tool]) -> Text {
        let tool = &tools[self.tool as usize];
        match self.form {
            Form::Id => tool.id_text(),
            Form::Unversioned => tool.unversioned_text(),
            Form::Bare | Form::Shared(_) => tool.name_text(),
            Form::Alias(nth) => tool.alias(nth as usize).to_owned().into(),
        }
    }
}

// Hashes only the bytes. The end marker of `str` is needed only if other data follows.
#[inline]
fn hash(hasher: &RandomState, text: &str) -> u64 {
    let mut hasher = hasher.build_hasher();
    hasher.write(text.as_bytes());
    hasher.finish()
}

// More tools do not fit into memory.
fn u32_of(idx: usize) -> u32 {
    u32::try_from(idx).expect("there are fewer than 2^32 tools")
}

fn is_same_tool(a: &Tool, b: &Tool) -> bool {
    (a.id().namespace(), a.id().name()) == (b.id().namespace(), b.id().name())
}

fn is_release(tool: &Tool) -> bool {
    tool.id().version().is_none() || tool.id().semver().is_some_and(|version| version.pre.is_empty())
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").field("len", &self.table.len()).finish_non_exhaustive()
    }
}
