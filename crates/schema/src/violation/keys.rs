//! The keys that a schema declares for an object.

use serde_json::Value;

use super::super::walk;
use super::locate::target;

/// The maximum number of schemas that are read for the keys of one object, since a schema may be hostile.
const MAX_SCHEMAS: usize = 256;

/// The keys that an object may have.
#[derive(Debug, Default)]
pub(super) struct Keys<'s> {
    pub(super) names: Vec<&'s str>,
    pub(super) patterns: Vec<&'s str>,
}

impl<'s> Keys<'s> {
    /// Returns the keys that `holder` declares. If `sees_all` is set, includes those of every schema that applies to
    /// the same value.
    ///
    /// `additionalProperties` considers only adjacent keywords, `unevaluatedProperties` considers all of these schemas.
    pub(super) fn declared_in(root: &'s Value, holder: &'s Value, sees_all: bool) -> Self {
        let mut keys = Self::default();
        let mut seen: Vec<*const Value> = Vec::new();
        let mut pending = vec![holder];
        while let Some(schema) = pending.pop() {
            let Value::Object(keywords) = schema else {
                continue;
            };
            if seen.len() == MAX_SCHEMAS || seen.contains(&std::ptr::from_ref(schema)) {
                continue;
            }
            seen.push(schema);
            add(&mut keys.names, keywords.get("properties"));
            add(&mut keys.patterns, keywords.get("patternProperties"));
            if !sees_all {
                break;
            }
            let reference = keywords.get("$ref").and_then(Value::as_str);
            pending.extend(reference.and_then(|reference| target(root, reference)));
            let before = pending.len();
            walk::each(keywords, |keyword, sub| {
                if matches!(keyword, "allOf" | "anyOf" | "oneOf" | "if" | "then" | "else" | "dependentSchemas") {
                    pending.push(sub);
                }
            });
            // Reversed, so that the first subschema is popped first.
            pending[before..].reverse();
        }
        keys
    }
}

fn add<'s>(to: &mut Vec<&'s str>, named: Option<&'s Value>) {
    let Some(Value::Object(named)) = named else { return };
    to.reserve(named.len());
    // The names of one schema differ.
    let before = to.len();
    for name in named.keys() {
        if !to[..before].contains(&name.as_str()) {
            to.push(name);
        }
    }
}
