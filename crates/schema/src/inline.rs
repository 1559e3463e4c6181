//! Inlining of definitions, for readers that do not follow `$ref`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::pointer::child;
use super::walk;
use super::walk::CONTAINERS;

/// Inlines every definition where it is used, in place of the `$ref`.
///
/// Keywords beside a `$ref` are kept: a description or default takes precedence over that of the definition, and a
/// constraint is merged with the definition, or combined with it in an `allOf` if merging could change the meaning.
///
/// The following references stay, and so does the definition in `$defs`: those to a recursive definition, those to
/// anything other than a definition (`#`, `#/properties/a`), and those whose inlining would make the schema larger than
/// 100,000 values or deeper than 64 levels. Unused definitions are removed.
///
/// A schema that has an `$anchor` or a nested `$id`, more than 100,000 values or more than 128 levels is not changed.
///
/// # Examples
///
/// ```
/// # use serde_json::json;
/// let mut schema = json!({
///     "properties": { "at": { "$ref": "#/$defs/Place", "description": "Where." } },
///     "$defs": { "Place": { "type": "string", "description": "A place." } },
/// });
/// toolkit_schema::inline::inline(&mut schema);
/// assert_eq!(
///     schema,
///     json!({ "properties": { "at": { "type": "string", "description": "Where." } } })
/// );
/// ```
pub fn inline(schema: &mut Value) {
    if !schema.is_object() || !walk::is_tractable(schema) || !has_references(schema) {
        return;
    }
    let original = schema.clone();
    let mut inliner = Inliner {
        definitions: Definitions::new(&original),
        room: walk::MAX_NODES.saturating_sub(walk::size(&original)),
        legacy: ignores_siblings(&original),
    };
    // The definitions are rewritten last, because most are unused by then and need none of the remaining budget.
    let written_out = take(schema);
    inliner.rewrite(schema, 0);
    put_back(schema, written_out, |reference, definition| {
        if inliner.definitions.inlinable(reference).is_none() {
            inliner.rewrite(definition, 2);
        }
    });
    walk::remove_unused(schema);
}

/// Returns true if any object has the key of a reference or of definitions. Otherwise there is nothing to inline.
fn has_references(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(has_references),
        Value::Object(map) => {
            let mut keys = walk::CONTAINERS.into_iter().chain(["$ref"]);
            keys.any(|key| map.contains_key(key)) || map.values().any(has_references)
        }
        _ => false,
    }
}

/// The maximum depth of the result. It is well below the 128 levels that parsers accept, and a schema takes up to two.
const MAX_DEPTH: usize = 64;

struct Inliner<'a> {
    definitions: Definitions<'a>,
    /// The number of values by which the schema may still grow.
    room: usize,
    legacy: bool,
}

impl Inliner<'_> {
    fn rewrite(&mut self, schema: &mut Value, depth: usize) {
        let Value::Object(map) = schema else {
            return;
        };
        walk::each_mut(map, |keyword, sub| {
            let levels = if sub_is_nested(keyword) { 2 } else { 1 };
            self.rewrite(sub, depth + levels);
        });
        let Some(Value::String(reference)) = map.get("$ref") else {
            return;
        };
        let Some(found) = self.definitions.inlinable(reference) else {
            return;
        };
        if depth + found.depth > MAX_DEPTH || found.size > self.room {
            return;
        }
        self.room -= found.size;
        let mut definition = found.schema.clone();
        self.rewrite(&mut definition, depth);
        map.remove("$ref");
        combine(map, definition, self.legacy);
    }
}

fn sub_is_nested(keyword: &str) -> bool {
    !matches!(keyword, "items" | "additionalProperties" | "not" | "if" | "then" | "else" | "contains")
}

/// Combines `definition` with the keywords beside the reference to it.
fn combine(map: &mut Map<String, Value>, definition: Value, legacy: bool) {
    if legacy {
        map.retain(|keyword, _| is_descriptive(keyword));
    }
    let definition = match definition {
        Value::Object(definition) => definition,
        Value::Bool(true) => return,
        refused => {
            map.insert("not".to_owned(), Map::new().into());
            debug_assert_eq!(refused, false);
            return;
        }
    };
    if may_merge(map, &definition) {
        for (keyword, value) in definition {
            map.entry(keyword).or_insert(value);
        }
    } else if let Value::Array(parts) = map.entry("allOf").or_insert_with(|| Value::Array(Vec::new())) {
        parts.push(definition.into());
    }
}

/// Returns true if the keywords of both schemas keep their meaning in a single schema.
fn may_merge(map: &Map<String, Value>, definition: &Map<String, Value>) -> bool {
    let only_described = |map: &Map<String, Value>| map.keys().all(|k| is_descriptive(k));
    if only_described(map) || only_described(definition) {
        return true;
    }
    let apart = |k: &String| is_descriptive(k) || !map.contains_key(k);
    let alone = |map: &Map<String, Value>| !map.keys().any(|k| looks_around(k));
    definition.keys().all(apart) && alone(map) && alone(definition)
}

fn is_descriptive(keyword: &str) -> bool {
    walk::is_annotation(keyword) || matches!(keyword, "$defs" | "definitions" | "$schema" | "$id")
}

/// Returns true if the meaning of `keyword` depends on the keywords beside it, in any draft.
fn looks_around(keyword: &str) -> bool {
    walk::depends_on_siblings(keyword) || matches!(keyword, "additionalItems" | "$ref")
}

// Before draft 2019-09, the keywords beside a `$ref` were ignored.
fn ignores_siblings(schema: &Value) -> bool {
    let dialect = schema.get("$schema").and_then(Value::as_str).unwrap_or("");
    dialect.contains("/draft-0")
}

// The definitions of a document that can be inlined.

/// A definition and the cost of inlining it.
#[derive(Clone, Copy)]
struct Definition<'a> {
    schema: &'a Value,
    /// The number of its JSON values.
    size: usize,
    /// The number of its levels, including those of the definitions that it uses.
    depth: usize,
}

/// The definitions that are not recursive, by JSON Pointer.
struct Definitions<'a>(BTreeMap<String, Definition<'a>>);

impl<'a> Definitions<'a> {
    fn new(document: &'a Value) -> Self {
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

    fn inlinable(&self, reference: &str) -> Option<Definition<'a>> {
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
fn take(document: &mut Value) -> Vec<(&'static str, Value)> {
    let mut taken = Vec::new();
    if let Some(root) = document.as_object_mut() {
        for container in CONTAINERS {
            if let Some((_, definitions)) = root.remove_entry(container) {
                taken.push((container, definitions));
            }
        }
    }
    taken
}

/// Restores removed definitions after calling `change` with a reference to each and its schema.
fn put_back(document: &mut Value, taken: Vec<(&'static str, Value)>, mut change: impl FnMut(&str, &mut Value)) {
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

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 1,
    }
}
