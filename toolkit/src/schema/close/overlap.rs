//! Detection of properties that two parts of a schema describe differently.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::super::walk;
use super::{Closer, mode};

/// The subschemas for values inside, by keyword and property name.
type Says<'a> = BTreeMap<(&'a str, &'a str), Vec<&'a Value>>;

const ANY: (&str, &str) = ("patternProperties", "");
/// The maximum number of references and nested parts that are followed. Beyond it, parts are assumed to disagree.
const MAX_DEPTH: usize = 64;

impl Closer<'_> {
    /// Returns true if two parts of `map` describe the same inner value differently, or if this cannot be determined.
    pub(super) fn overlaps(&self, map: &Map<String, Value>) -> bool {
        let joined = map.keys().any(|k| mode::is_in_place(k));
        joined && self.says(map, &mut 0).is_none()
    }

    fn says<'a>(&'a self, map: &'a Map<String, Value>, depth: &mut usize) -> Option<Says<'a>> {
        self.look()?;
        let mut all = Says::new();
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
                    let says = self.says_of(target, depth)?;
                    all = together(all, says)?;
                }
                ("anyOf" | "oneOf", Value::Array(branches)) => {
                    // Only one branch describes the value, so the branches may disagree.
                    let mut either = Says::new();
                    for branch in branches {
                        for (what, schemas) in self.says_of(branch, depth)? {
                            either.entry(what).or_default().extend(schemas);
                        }
                    }
                    all = together(all, either)?;
                }
                ("allOf", Value::Array(joined)) => {
                    for part in joined {
                        all = together(all, self.says_of(part, depth)?)?;
                    }
                }
                ("then" | "else", part) => all = together(all, self.says_of(part, depth)?)?,
                ("dependentSchemas" | "dependencies", Value::Object(named)) => {
                    for part in named.values() {
                        all = together(all, self.says_of(part, depth)?)?;
                    }
                }
                _ => {}
            }
        }
        Some(all)
    }

    fn says_of<'a>(&'a self, schema: &'a Value, depth: &mut usize) -> Option<Says<'a>> {
        match schema {
            Value::Object(map) => {
                // This also stops at a schema that includes itself.
                *depth += 1;
                if *depth > MAX_DEPTH {
                    return None;
                }
                let says = self.says(map, depth);
                *depth -= 1;
                says
            }
            _ => Some(Says::new()),
        }
    }

    fn look(&self) -> Option<()> {
        self.looks.set(self.looks.get().checked_sub(1)?);
        Some(())
    }

    /// Returns true if `map` or a part of it describes objects, or if this cannot be determined.
    pub(super) fn describes_an_object(&self, map: &Map<String, Value>) -> bool {
        let mut seen = std::collections::BTreeSet::new();
        let mut pending = vec![map];
        while let Some(map) = pending.pop() {
            if mode::allows_objects(map) || self.look().is_none() {
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
                if mode::is_in_place(keyword) {
                    pending.extend(sub.as_object());
                }
            });
        }
        false
    }
}

fn together<'a>(mut all: Says<'a>, more: Says<'a>) -> Option<Says<'a>> {
    let is_property = |what: &(&str, &str)| what.0 == "properties";
    let any = |says: &Says| says.contains_key(&ANY) && says.len() > 1;
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
