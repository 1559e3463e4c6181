//! Inlining of definitions, for readers that do not follow `$ref`.

mod definitions;

use serde_json::{Map, Value};

use self::definitions::{Definitions, put_back, take};
use super::normal::is_legacy;
use super::walk;

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
        legacy: is_legacy(&original),
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

/// Returns a copy of a schema in which [`inline()`] has replaced the references.
#[must_use]
pub fn inlined(schema: &Value) -> Value {
    let mut schema = schema.clone();
    inline(&mut schema);
    schema
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
        map.shift_remove("$ref");
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
