//! Detection of properties that two parts of a schema describe differently.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::super::walk;
use super::copies;
use super::copies::allows_objects;

/// The subschemas for values inside, by keyword and property name.
type Subschemas<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Value>>;

const ANY: (&str, &str) = ("patternProperties", "");
/// The maximum number of references and nested parts that are followed. Beyond it, parts are assumed to disagree.
const MAX_DEPTH: usize = 64;

/// The maximum number of schemas that are visited in a document. After that, parts are assumed to disagree.
const VISIT_BUDGET: usize = 100_000;

/// The comparison of the parts of a document.
pub(super) struct Overlap<'a> {
    original: &'a Value,
    /// The number of schemas that may still be visited.
    visits: Cell<usize>,
}

impl<'a> Overlap<'a> {
    pub(super) fn new(original: &'a Value) -> Self {
        Self { original, visits: Cell::new(VISIT_BUDGET) }
    }

    /// Returns true if two parts of `map` describe the same inner value differently, or if this cannot be determined.
    pub(super) fn exists_in(&self, map: &'a Map<String, Value>) -> bool {
        let joined = map.keys().any(|k| copies::is_in_place(k));
        joined && self.subschemas(map, &mut 0).is_none()
    }

    fn subschemas(&self, map: &'a Map<String, Value>, depth: &mut usize) -> Option<Subschemas<'a>> {
        self.visit()?;
        let mut all = Subschemas::new();
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(named)) => {
                    for (name, schema) in named {
                        all.entry((keyword, name)).or_default().push(schema);
                    }
                }
                ("patternProperties", Value::Object(named)) => {
                    all.entry(ANY).or_default().extend(named.values());
                }
                ("additionalProperties" | "unevaluatedProperties", schema) if !schema.is_boolean() => {
                    all.entry(ANY).or_default().push(schema);
                }
                ("items" | "prefixItems" | "additionalItems" | "unevaluatedItems", schema) => {
                    all.entry(("items", "")).or_default().push(schema);
                }
                _ => {}
            }
        }
        for (keyword, value) in map {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    let target = walk::resolve(self.original, reference)?;
                    let subschemas = self.subschemas_of(target, depth)?;
                    all = merge(all, subschemas)?;
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    // Only one branch describes the value, so the branches may disagree.
                    let mut either = Subschemas::new();
                    for branch in branches {
                        for (what, schemas) in self.subschemas_of(branch, depth)? {
                            either.entry(what).or_default().extend(schemas);
                        }
                    }
                    all = merge(all, either)?;
                }
                ("allOf", Value::Array(joined)) => {
                    for part in joined {
                        all = merge(all, self.subschemas_of(part, depth)?)?;
                    }
                }
                ("then" | "else", part) => all = merge(all, self.subschemas_of(part, depth)?)?,
                ("dependentSchemas" | "dependencies", Value::Object(named)) => {
                    for part in named.values() {
                        all = merge(all, self.subschemas_of(part, depth)?)?;
                    }
                }
                _ => {}
            }
        }
        Some(all)
    }

    fn subschemas_of(&self, schema: &'a Value, depth: &mut usize) -> Option<Subschemas<'a>> {
        match schema {
            Value::Object(map) => {
                // This also stops at a schema that includes itself.
                *depth += 1;
                if *depth > MAX_DEPTH {
                    return None;
                }
                let subschemas = self.subschemas(map, depth);
                *depth -= 1;
                subschemas
            }
            _ => Some(Subschemas::new()),
        }
    }

    fn visit(&self) -> Option<()> {
        self.visits.set(self.visits.get().checked_sub(1)?);
        Some(())
    }

    /// Returns true if `map` or a part of it describes objects, or if this cannot be determined.
    pub(super) fn describes_an_object(&self, map: &Map<String, Value>) -> bool {
        let mut seen = BTreeSet::new();
        let mut pending = vec![map];
        while let Some(map) = pending.pop() {
            if allows_objects(map) || self.visit().is_none() {
                return true;
            }
            if let Some(Value::String(reference)) = map.get("$ref")
                && seen.insert(reference)
            {
                match walk::resolve(self.original, reference) {
                    Some(target) => pending.extend(target.as_object()),
                    None => return true,
                }
            }
            walk::each(map, |keyword, sub| {
                if copies::is_in_place(keyword) {
                    pending.extend(sub.as_object());
                }
            });
        }
        false
    }
}

fn merge<'a>(mut all: Subschemas<'a>, more: Subschemas<'a>) -> Option<Subschemas<'a>> {
    let is_property = |what: &(&str, &str)| what.0 == "properties";
    let any = |subschemas: &Subschemas| subschemas.contains_key(&ANY) && subschemas.len() > 1;
    if any(&all) && more.keys().any(is_property) || any(&more) && all.keys().any(is_property) {
        return None;
    }
    for (what, schemas) in more {
        let there = all.entry(what).or_default();
        let disagree = |a: &Value| schemas.iter().any(|b| *b != a);
        if there.iter().any(|a| disagree(a)) {
            return None;
        }
        there.extend(schemas);
    }
    Some(all)
}
