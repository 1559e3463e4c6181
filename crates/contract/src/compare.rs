//! Comparison of two catalogs, tool by tool.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use semver::{Comparator, Op, Version, VersionReq};
use serde_json::Value;

use toolkit::internals::Names;
use toolkit::tool::{Authorization, Requirements, TaskSupport, Text, Tool, ToolId};
use toolkit_schema::compare::{Comparer as SchemaComparer, Verdict};

use super::change::{Change, Comparison, Part};

/// Compares two lists of tools, each sorted by id.
pub(super) fn compare(old: &[Tool], new: &[Tool]) -> Comparison {
    SchemaComparer::run(|schemas| compare_within(old, new, schemas))
}

fn compare_within(old: &[Tool], new: &[Tool], schemas: &SchemaComparer) -> Comparison {
    let mut comparer = Comparer { old, new, schemas, changes: Vec::new(), compared: HashSet::new() };
    // Diagnostics of a list of tools are reported where it is parsed.
    let names = [old, new].map(|tools| Names::new(tools, &mut Vec::new()));
    let mut seen: BTreeSet<&ToolId> = BTreeSet::new();
    for (idx, tool) in old.iter().enumerate() {
        match successor(tool, new, &names[1]) {
            Some(now) => {
                seen.insert(new[now].id());
                comparer.compared.insert((idx, now));
                comparer.compare_tools(tool, &new[now]);
            }
            None => {
                let needs = Some(format!("the alias `{}` of a tool that takes its place", tool.id().unversioned()));
                comparer.push_record_change(&tool.id().to_string(), Verdict::Breaking, "was removed".to_owned(), needs);
            }
        }
    }
    comparer.compare_names(&names);
    comparer.compare_requirements();
    for tool in new.iter().filter(|tool| !seen.contains(tool.id())) {
        comparer.push_record_change(&tool.id().to_string(), Verdict::Additive, "is new".to_owned(), None);
    }
    Comparison { changes: comparer.changes }
}

/// Returns the tool that an earlier id resolves to: the same tool, the tool that a version requirement or the
/// unversioned name resolves to, or a tool with the id as an alias.
fn successor(tool: &Tool, new: &[Tool], names: &Names) -> Option<usize> {
    let id = tool.id();
    if let Ok(exact) = new.binary_search_by(|now| now.id().cmp(id)) {
        return Some(exact);
    }
    let versions = versions_of(id, new);
    let is_compatible = |idx: &usize| {
        let pair = id.semver().zip(new[*idx].id().semver());
        pair.is_some_and(|(was, is)| toolkit::version::is_compatible(&is, &was))
    };
    versions.rev().find(is_compatible).or_else(|| {
        let unversioned = id.unversioned().to_string();
        let idx = names.get(&unversioned).or_else(|| names.get(&id.to_string()))?;
        let found = &new[idx];
        // The bare name of a tool without a namespace may belong to another tool now.
        let is_same = found.id().unversioned() == id.unversioned();
        let names_it = |alias: &Text| *alias == unversioned || **alias == id.to_string();
        (is_same || found.aliases().iter().any(names_it)).then_some(idx)
    })
}

/// Returns the indexes of all versions of a tool, in ascending order.
fn versions_of(id: &ToolId, tools: &[Tool]) -> Range<usize> {
    let key = |id: &ToolId| (id.namespace().map(str::to_owned), id.name().to_owned());
    let wanted = key(id);
    let start = tools.partition_point(|tool| key(tool.id()) < wanted);
    start..start + tools[start..].partition_point(|tool| key(tool.id()) == wanted)
}

/// Two lists of tools, and the changes found between them.
struct Comparer<'t> {
    old: &'t [Tool],
    new: &'t [Tool],
    schemas: &'t SchemaComparer,
    changes: Vec<Change>,
    /// The pairs that were compared, by index.
    compared: HashSet<(usize, usize)>,
}

impl<'t> Comparer<'t> {
    fn push_record_change(&mut self, tool: &str, verdict: Verdict, what: String, needs: Option<String>) {
        let (tool, part, pointer, example) = (tool.to_owned(), Part::Record, String::new(), None);
        self.changes.push(Change { tool, verdict, part, pointer, what, example, needs });
    }

    /// Compares what each requirement of an earlier version resolved to with what it resolves to now. `^` and `~` are the
    /// requirements that promise a compatible version; `=` and a removed version never move.
    fn compare_requirements(&mut self) {
        let (old, new) = (self.old, self.new);
        for versions in old.chunk_by(|a, b| is_same_tool(a.id(), b.id())) {
            let Some(first) = versions.first() else { continue };
            let (was, is) = (Versions::new(first.id(), old), Versions::new(first.id(), new));
            for (op, base) in [Op::Caret, Op::Tilde].into_iter().flat_map(|op| was.known.iter().map(move |it| (op, it)))
            {
                let wanted = requirement(op, &base.1);
                // The requirement of the version that it resolves to finds the same.
                if was.finds_later(&wanted, &base.1) {
                    continue;
                }
                if let Some(now) = is.highest(&wanted, &base.1).filter(|now| new[*now].id() != old[base.0].id()) {
                    self.compare_resolved(&format!("{}@{wanted}", first.id().unversioned()), base.0, now, "");
                }
            }
        }
    }

    /// Compares the tools that each name resolves to.
    fn compare_names(&mut self, names: &[Names; 2]) {
        let (old, new) = (self.old, self.new);
        let mut all: Vec<&str> = names[0].iter().collect();
        // The id without a version is the name that callers know best, and names that resolve alike are compared once.
        let is_other =
            |name: &str| names[0].get(name).is_none_or(|idx| old[idx].id().unversioned().to_string() != name);
        all.sort_by_cached_key(|name| (is_other(name), *name));
        for name in all {
            let Some(was) = names[0].get(name) else { continue };
            // Versioned ids and removed aliases are compared above.
            let id = old[was].id();
            let is_id = name == id.to_string() && id.version().is_some();
            if is_id {
                continue;
            }
            match (names[1].get(name), names[1].several(name)) {
                (Some(is), _) => {
                    // Its callers by name are not those of the earlier version, although that is still there.
                    let is_beside =
                        is_same_tool(id, new[is].id()) && new.binary_search_by(|now| now.id().cmp(id)).is_ok();
                    let reach = if is_beside { ", the only version over MCP and in exports" } else { "" };
                    self.compare_resolved(name, was, is, reach);
                }
                (None, Some(several)) => {
                    let ids: Vec<String> =
                        several.iter().map(|&idx| format!("`{}`", new[idx].id().unversioned())).collect();
                    let what = format!("is ambiguous: it names {}", ids.join(", "));
                    let needs = Some("other names for all but one of them".to_owned());
                    self.push_record_change(name, Verdict::Breaking, what, needs);
                }
                (None, None) => {}
            }
        }
    }

    /// Records the changes that break the callers of a name that resolves to another tool than before.
    fn compare_resolved(&mut self, name: &str, was: usize, is: usize, reach: &str) {
        if !self.compared.insert((was, is)) {
            return;
        }
        let found = self.changes.len();
        self.compare_tools(&self.old[was], &self.new[is]);
        let id = self.new[is].id().to_string();
        let moved = self.changes.split_off(found).into_iter().filter(|change| change.verdict >= Verdict::Unknown);
        self.changes.extend(moved.map(|change| {
            let what = format!("{} (it resolves to `{id}` now{reach})", change.what);
            Change { tool: name.to_owned(), what, ..change }
        }));
    }
}

/// The versions of a tool, in ascending order.
struct Versions {
    /// The index of each tool that has a version.
    known: Vec<(usize, Version)>,
}

impl Versions {
    fn new(id: &ToolId, tools: &[Tool]) -> Self {
        Self { known: versions_of(id, tools).filter_map(|idx| Some((idx, tools[idx].id().semver()?))).collect() }
    }

    /// Returns the versions from `base` that meet a requirement of `base`. They end before the first release that does not
    /// meet it.
    fn meeting<'v>(&'v self, wanted: &'v VersionReq, base: &Version) -> impl Iterator<Item = &'v (usize, Version)> {
        let start = self.known.partition_point(|(_, version)| version < base);
        let from_base = self.known[start..].iter();
        let near = from_base.take_while(|(_, version)| !version.pre.is_empty() || wanted.matches(version));
        near.filter(|(_, version)| wanted.matches(version))
    }

    fn highest(&self, wanted: &VersionReq, base: &Version) -> Option<usize> {
        self.meeting(wanted, base).last().map(|(idx, _)| *idx)
    }

    /// Returns true if a version after `base` meets a requirement of `base`.
    fn finds_later(&self, wanted: &VersionReq, base: &Version) -> bool {
        self.meeting(wanted, base).any(|(_, version)| version > base)
    }
}

/// Returns the requirement with an operator and a version, as Cargo reads it.
fn requirement(op: Op, version: &Version) -> VersionReq {
    let Version { major, minor, patch, pre, .. } = version.clone();
    VersionReq { comparators: vec![Comparator { op, major, minor: Some(minor), patch: Some(patch), pre }] }
}

fn is_same_tool(a: &ToolId, b: &ToolId) -> bool {
    (a.namespace(), a.name()) == (b.namespace(), b.name())
}

impl Comparer<'_> {
    fn compare_tools(&mut self, old: &Tool, new: &Tool) {
        let mut push = |verdict: Verdict, part: Part, pointer: String, what: String, example: Option<Value>| {
            let needs = missing(old.id().semver().as_ref(), new.id().semver().as_ref(), verdict);
            self.changes.push(Change { tool: old.id().to_string(), verdict, part, pointer, what, example, needs });
        };
        for (verdict, field, what) in metadata_changes(old, new) {
            push(verdict, Part::Record, format!("`{field}`"), what.to_owned(), None);
        }
        let inputs = self.schemas.inputs(old.input(), new.input()).into_iter().map(|found| (Part::Input, found));
        let outputs = self.schemas.outputs(old.output(), new.output()).into_iter().map(|found| (Part::Output, found));
        for (part, found) in inputs.chain(outputs) {
            push(found.verdict, part, found.pointer, found.what, found.example);
        }
    }
}

/// Returns the changes of the metadata that callers rely on.
fn metadata_changes(old: &Tool, new: &Tool) -> Vec<(Verdict, &'static str, &'static str)> {
    let mut changes = Vec::new();
    let (was, is) = (old.annotations(), new.annotations());
    // A host may have trusted the hint to skip an approval.
    for (field, was, is, trusted) in [
        ("readOnlyHint", was.read_only, is.read_only, true),
        ("destructiveHint", was.destructive, is.destructive, false),
        ("idempotentHint", was.idempotent, is.idempotent, true),
        ("openWorldHint", was.open_world, is.open_world, false),
    ] {
        if was == Some(trusted) && is != Some(trusted) {
            changes.push((Verdict::Breaking, field, "withdraws what hosts may have relied on"));
        } else if was != is {
            changes.push((Verdict::Additive, field, "has changed"));
        }
    }
    let now_required = new.task_support() == TaskSupport::Required;
    if old.task_support() != new.task_support() {
        // A client without tasks can no longer call the tool.
        let verdict = if now_required { Verdict::Breaking } else { Verdict::Additive };
        changes.push((verdict, "execution", "has changed"));
    }
    if requires_more(old.requirements(), new.requirements()) {
        changes.push((Verdict::Breaking, "requirements", "have grown"));
    } else if old.requirements() != new.requirements() {
        changes.push((Verdict::Additive, "requirements", "have shrunk"));
    }
    if old.aliases().iter().any(|alias| !new.aliases().contains(alias)) {
        changes.push((Verdict::Breaking, "aliases", "lack an earlier name"));
    } else if old.aliases() != new.aliases() {
        changes.push((Verdict::Additive, "aliases", "have a new name"));
    }
    if old.deprecated().is_none() && new.deprecated().is_some() {
        changes.push((Verdict::Additive, "deprecated", "was set"));
    }
    for (field, differs) in [
        ("description", old.description() != new.description()),
        ("title", old.title() != new.title()),
        ("tags", old.tags() != new.tags()),
        ("timeoutMs", old.timeout() != new.timeout()),
    ] {
        if differs {
            changes.push((Verdict::Cosmetic, field, "has changed"));
        }
    }
    changes
}

/// Returns true if a caller that satisfied the old requirements may not satisfy the new ones.
fn requires_more(old: &Requirements, new: &Requirements) -> bool {
    let held_token = |wanted: &Authorization| {
        old.authorization.iter().any(|held| {
            let has = |scope| held.scopes.contains(scope);
            held.id == wanted.id && wanted.scopes.iter().all(has)
        })
    };
    !new.authorization.iter().all(held_token)
        || !new.secrets.iter().all(|secret| old.secrets.contains(secret))
        || !new.scopes.iter().all(|scope| old.scopes.contains(scope))
        || (new.user_id && !old.user_id)
}

/// Returns the minimum version after `old` that announces a change with this verdict.
fn needed(old: &Version, verdict: Verdict) -> Version {
    let breaks = verdict >= Verdict::Unknown;
    match (verdict, old.major) {
        (Verdict::Additive, 1..) => Version::new(old.major, old.minor + 1, 0),
        (_, 0) if breaks => Version::new(old.major, old.minor + 1, 0),
        _ if breaks => Version::new(old.major + 1, 0, 0),
        _ => Version::new(old.major, old.minor, old.patch + 1),
    }
}

/// Returns the version that a tool needs to announce a change, unless its current version is sufficient.
fn missing(old: Option<&Version>, new: Option<&Version>, verdict: Verdict) -> Option<String> {
    match (old, new) {
        (Some(old), Some(new)) => {
            let needed = needed(old, verdict);
            (*new < needed).then(|| needed.to_string())
        }
        // A tool without a version cannot announce a breaking change.
        _ if verdict >= Verdict::Unknown => Some("a version of the tool".to_owned()),
        _ => None,
    }
}
