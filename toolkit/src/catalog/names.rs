//! Every name under which a tool answers.

use std::collections::HashMap;
use std::collections::hash_map::Entry as Slot;

use foldhash::fast::RandomState;

use super::problem::Problem;
use crate::tool::{Text, Tool};

/// From ids, ids without version, bare names and former names to tools.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: HashMap<Text, Resolved, RandomState>,
    latest: Vec<usize>,
}

/// What a name means.
#[derive(Debug)]
pub(super) enum Resolved {
    /// One tool, by its index.
    One(usize),
    /// Tools in several namespaces, by their indexes.
    Several(Vec<usize>),
}

impl Names {
    /// Indexes tools that are in the order of their ids; a former name that something else has is a problem.
    pub(super) fn of(tools: &[Tool], problems: &mut Vec<Problem>) -> Self {
        let mut names = Self::default();
        // With a namespace: the id, the id without its version, the name alone.
        let n_ids = |tool: &Tool| if tool.id().namespace().is_some() { 3 } else { 1 };
        names.names.reserve(tools.iter().map(|tool| n_ids(tool) + tool.aliases().len()).sum());
        for (idx, tool) in tools.iter().enumerate() {
            names.names.insert(tool.id_text(), Resolved::One(idx));
        }
        // The versions of one tool stand next to each other, in ascending order.
        let mut start = 0;
        for versions in tools.chunk_by(is_same_tool) {
            let highest_release = versions.iter().rposition(is_release);
            let latest = start + highest_release.unwrap_or(versions.len() - 1);
            start += versions.len();
            names.latest.push(latest);
            let id = tools[latest].id().unversioned();
            if id.namespace().is_some() {
                names.names.insert(id.to_string().into(), Resolved::One(latest));
            }
            names.add_bare(tools, tools[latest].name_text(), latest);
        }
        for (idx, tool) in tools.iter().enumerate() {
            for alias in tool.aliases() {
                names.add_alias(tools, alias, idx, problems);
            }
        }
        names
    }

    pub(super) fn get(&self, name: &str) -> Option<&Resolved> {
        self.names.get(name)
    }

    /// The highest version of each tool, by its index: a release, or the highest version where none is released.
    pub(super) fn latest(&self) -> &[usize] {
        &self.latest
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(|name| &**name)
    }

    fn add_bare(&mut self, tools: &[Tool], name: Text, idx: usize) {
        match self.names.entry(name) {
            Slot::Vacant(slot) => {
                slot.insert(Resolved::One(idx));
            }
            Slot::Occupied(mut slot) => match slot.get_mut() {
                // A tool without a namespace is what its bare name means, whoever else is called so.
                Resolved::One(other) if tools[*other].id().namespace().is_none() => {
                    *other = if tools[idx].id().namespace().is_none() { idx } else { *other };
                }
                Resolved::One(other) => {
                    let several = vec![*other, idx];
                    slot.insert(Resolved::Several(several));
                }
                Resolved::Several(several) => several.push(idx),
            },
        }
    }

    fn add_alias(&mut self, tools: &[Tool], alias: &Text, idx: usize, problems: &mut Vec<Problem>) {
        match self.names.entry(alias.clone()) {
            Slot::Vacant(slot) => {
                slot.insert(Resolved::One(idx));
            }
            Slot::Occupied(slot) => {
                let other = match slot.get() {
                    Resolved::One(other) => *other,
                    Resolved::Several(others) => others[0],
                };
                // Two versions of one tool may share their former name; the higher one has it.
                if tools[other].id().unversioned() == tools[idx].id().unversioned() {
                    *slot.into_mut() = Resolved::One(idx.max(other));
                } else {
                    problems.push(Problem::alias_taken(alias, &tools[idx], &tools[other]));
                }
            }
        }
    }
}

fn is_same_tool(a: &Tool, b: &Tool) -> bool {
    (a.id().namespace(), a.id().name()) == (b.id().namespace(), b.id().name())
}

fn is_release(tool: &Tool) -> bool {
    tool.id().semver().is_none_or(|version| version.pre.is_empty())
}
