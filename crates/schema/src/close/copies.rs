//! The definitions of a closed document, with one copy for each mode in which a definition is used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use serde_json::Value;

use super::super::walk;
use super::mode::{Mode, is_in_place};
use super::objects::{allows_objects, is_explicit};

/// Allocates names for copies at their first reference, and queues the copies.
pub(super) struct Copies<'a> {
    original: &'a Value,
    /// The references to copies, by pointer and mode.
    made: BTreeMap<(String, Mode), String>,
    /// Caches which definitions contain nothing to close, by pointer.
    inert: BTreeMap<String, bool>,
    names: BTreeSet<String>,
    pending: VecDeque<(String, &'a Value, Mode)>,
}

impl<'a> Copies<'a> {
    pub(super) fn new(original: &'a Value) -> Self {
        // Reserves the names of all definitions.
        let names = walk::CONTAINERS
            .iter()
            .filter_map(|container| original.get(container)?.as_object())
            .flat_map(|definitions| definitions.keys().cloned())
            .collect();
        Self { original, made: BTreeMap::new(), inert: BTreeMap::new(), names, pending: VecDeque::new() }
    }

    /// Returns the next definition to copy.
    pub(super) fn next(&mut self) -> Option<(String, &'a Value, Mode)> {
        self.pending.pop_front()
    }

    /// Returns the reference to a copy in `mode`, in place of `reference`.
    pub(super) fn reference(&mut self, reference: &str, mode: Mode) -> String {
        let target =
            walk::pointer(reference).and_then(|pointer| Some((walk::resolve(self.original, reference)?, pointer)));
        let Some((target, pointer)) = target else {
            return reference.to_owned();
        };
        if pointer.is_empty() && mode == Mode::Closed {
            return reference.to_owned();
        }
        // A definition with nothing to close needs a single copy.
        if !self.inert.contains_key(&pointer) {
            self.inert.insert(pointer.clone(), is_inert(target));
        }
        let mode = if self.inert[&pointer] { Mode::Closed } else { mode };
        let key = (pointer, mode);
        if let Some(made) = self.made.get(&key) {
            return made.clone();
        }

        let name = self.name(&key.0, mode);
        let reference = walk::reference("$defs", &name);
        self.pending.push_back((name, target, mode));
        self.made.insert(key, reference.clone());
        reference
    }

    fn name(&mut self, pointer: &str, mode: Mode) -> String {
        if mode == Mode::Closed
            && let Some(own) = pointer.strip_prefix("/$defs/")
            && !own.contains('/')
        {
            return own.replace("~1", "/").replace("~0", "~");
        }
        let base = match pointer.rsplit('/').next() {
            Some(last) if !last.is_empty() => last.replace("~1", "/").replace("~0", "~"),
            _ => "root".to_owned(),
        };
        let mut name = format!("{base}{}", mode.suffix());
        let mut n = 1;
        while !self.names.insert(name.clone()) {
            n += 1;
            name = format!("{base}{}{n}", mode.suffix());
        }
        name
    }
}

fn is_inert(schema: &Value) -> bool {
    let Value::Object(map) = schema else {
        return true;
    };
    let may_describe_objects =
        allows_objects(map) || is_explicit(map) || map.keys().any(|k| is_in_place(k) && k == "$ref");
    let mut inert = !may_describe_objects;
    walk::each(map, |_, sub| inert = inert && is_inert(sub));
    inert
}
