//! The definitions of a document that can be inlined.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::pointer::child;
use crate::walk;
use crate::walk::CONTAINERS;

/// A definition and the cost of inlining it.
#[derive(Clone, Copy)]
pub(super) struct Definition<'a> {
    pub(super) schema: &'a Value,
    /// The number of its JSON values.
    pub(super) size: usize,
    /// The number of its levels, including those of the definitions that it uses.
    pub(super) depth: usize,
}

/// The definitions that are not recursive, by JSON Pointer.
pub(super) struct Definitions<'a>(BTreeMap<String, Definition<'a>>);

impl<'a> Definitions<'a> {
    pub(super) fn new(document: &'a Value) -> Self {
        let all: BTreeMap<String, &Value> = CONTAINERS
            .iter()
            .filter_map(|container| Some((container, document.get(container)?.as_object()?)))
            .flat_map(|(container, named)| {
                let container = child("", container);
                named.iter().map(move |(name, schema)| (child(&container, name), schema))
            })
            .collect();
        let uses: BTreeMap<&str, BTreeSet<String>> = all
            .iter()
            .map(|(pointer, schema)| {
                let mut uses = references(schema);
                uses.retain(|to| all.contains_key(to));
                (pointer.as_str(), uses)
            })
            .collect();

        let mut steps = MAX_STEPS;
        let recursive: BTreeSet<&str> =
            all.keys().map(String::as_str).filter(|pointer| leads_back(pointer, &uses, &mut steps)).collect();
        Self(measure(&all, &uses, &recursive))
    }

    pub(super) fn inlinable(&self, reference: &str) -> Option<Definition<'a>> {
        self.0.get(&walk::pointer(reference)?).copied()
    }
}

/// The maximum number of steps of the search for recursion. A definition that is undecided by then counts as recursive.
const MAX_STEPS: usize = 1_000_000;

fn leads_back(start: &str, uses: &BTreeMap<&str, BTreeSet<String>>, steps: &mut usize) -> bool {
    let mut seen = BTreeSet::new();
    let mut pending = vec![start];
    while let Some(pointer) = pending.pop() {
        for to in &uses[pointer] {
            if to == start || *steps == 0 {
                return true;
            }
            *steps -= 1;
            if seen.insert(to.as_str()) {
                pending.push(to);
            }
        }
    }
    false
}

/// Measures each definition after those that it uses, without recursion, since a chain of them may be long.
fn measure<'a>(
    all: &BTreeMap<String, &'a Value>,
    uses: &BTreeMap<&str, BTreeSet<String>>,
    recursive: &BTreeSet<&str>,
) -> BTreeMap<String, Definition<'a>> {
    let mut users: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut waiting_for: BTreeMap<&str, usize> = BTreeMap::new();
    let mut ready = Vec::new();
    for (&pointer, uses) in uses.iter().filter(|(p, _)| !recursive.contains(*p)) {
        let uses = uses.iter().filter(|to| !recursive.contains(to.as_str()));
        let mut n_uses = 0;
        for to in uses {
            users.entry(to).or_default().push(pointer);
            n_uses += 1;
        }
        waiting_for.insert(pointer, n_uses);
        if n_uses == 0 {
            ready.push(pointer);
        }
    }
    let mut measured: BTreeMap<String, Definition> = BTreeMap::new();
    while let Some(pointer) = ready.pop() {
        let schema = all[pointer];
        let below = uses[pointer].iter().filter_map(|to| measured.get(to));
        let below = below.map(|used| used.depth).max().unwrap_or(0);
        let definition = Definition { schema, size: walk::size(schema), depth: depth(schema) + below };
        measured.insert(pointer.to_owned(), definition);
        for user in users.get(pointer).into_iter().flatten() {
            if let Some(n_uses) = waiting_for.get_mut(user) {
                *n_uses -= 1;
                if *n_uses == 0 {
                    ready.push(user);
                }
            }
        }
    }
    measured
}

/// Removes the definitions from a document and returns them.
pub(super) fn take(document: &mut Value) -> Vec<(&'static str, Value)> {
    let mut taken = Vec::new();
    if let Some(root) = document.as_object_mut() {
        for container in CONTAINERS {
            if let Some((_, definitions)) = root.shift_remove_entry(container) {
                taken.push((container, definitions));
            }
        }
    }
    taken
}

/// Restores removed definitions after calling `change` with a reference to each and its schema.
pub(super) fn put_back(
    document: &mut Value,
    taken: Vec<(&'static str, Value)>,
    mut change: impl FnMut(&str, &mut Value),
) {
    for (container, mut definitions) in taken {
        for (name, definition) in definitions.as_object_mut().into_iter().flatten() {
            change(&walk::reference(container, name), definition);
        }
        document[container] = definitions;
    }
}

/// Returns the pointers of all references in a schema and its subschemas.
fn references(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut pending = vec![schema];
    while let Some(schema) = pending.pop() {
        let Value::Object(map) = schema else { continue };
        found.extend(map.get("$ref").and_then(Value::as_str).and_then(walk::pointer));
        walk::each(map, |_, sub| pending.push(sub));
    }
    found
}

pub(super) fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}
