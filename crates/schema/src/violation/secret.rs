//! Masking of secret values in violations and logs.
//!
//! A `writeOnly` schema and the schema that rejects a value may be combined in any way. Therefore a value is masked by
//! its location: it is secret if any schema that may apply to that location is `writeOnly`.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::walk;
use super::single::Violation;
use crate::pointer::{child, tokens};

/// The replacement of a secret, and of an undeclared key inside one.
const MASK: &str = "…";

/// The maximum depth to which a value is followed, the same as for reading JSON.
const MAX_DEPTH: usize = 127;

/// The secrets that a schema declares.
pub(super) struct Secrets<'s> {
    root: &'s Value,
}

/// A location in a value, with the schemas that may apply to it.
struct Location<'s> {
    here: Vec<&'s Map<String, Value>>,
    /// True if a reference does not resolve, so that any schema may apply.
    is_lost: bool,
}

/// Returns a copy of `value` with its secrets masked.
pub(crate) fn masked(schema: &Value, value: &Value) -> Value {
    Secrets::new(schema).masked(value)
}

impl<'s> Secrets<'s> {
    pub(super) fn new(root: &'s Value) -> Self {
        Self { root }
    }

    /// Removes from a violation what it must not repeat: the value, the suggestion, and keys inside a secret that no
    /// schema declares.
    pub(super) fn mask(&self, violation: &mut Violation) {
        let mut location = Location { here: self.applicable(std::iter::once(self.root)), is_lost: false };
        let mut is_secret = false;
        let mut pointer = String::new();
        for token in tokens(&violation.pointer) {
            is_secret |= self.is_secret(&mut location);
            let is_named = location.here.iter().any(|schema| declares(schema, &token) || is_index_of(schema, &token));
            pointer = child(&pointer, if is_secret && !is_named { MASK } else { &token });
            location.here = self.applicable(location.here.iter().flat_map(|schema| subschemas_at(schema, &token)));
        }
        is_secret |= self.is_secret(&mut location);
        if is_secret {
            violation.pointer = pointer;
            violation.sent = None;
            violation.suggestion = None;
        }
    }

    /// Returns a copy of a value with every possible secret masked, including everything that is nested too deep to
    /// follow.
    fn masked(&self, value: &Value) -> Value {
        self.masked_at(Location { here: self.applicable(std::iter::once(self.root)), is_lost: false }, value, MAX_DEPTH)
    }

    fn masked_at(&self, mut location: Location<'s>, value: &Value, n_levels: usize) -> Value {
        if n_levels == 0 || self.is_secret(&mut location) {
            return MASK.into();
        }
        let at = |token: &str, value: &Value| {
            // Such a key would match as the shortened form of a longer one.
            if token.ends_with(MASK) {
                return MASK.into();
            }
            let here = self.applicable(location.here.iter().flat_map(|schema| subschemas_at(schema, token)));
            self.masked_at(Location { here, is_lost: false }, value, n_levels - 1)
        };
        match value {
            Value::Object(object) => object.iter().map(|(key, value)| (key.clone(), at(key, value))).collect(),
            Value::Array(items) => items.iter().enumerate().map(|(idx, item)| at(&idx.to_string(), item)).collect(),
            other => other.clone(),
        }
    }

    fn is_secret(&self, location: &mut Location<'s>) -> bool {
        let follows = |schema: &&Map<String, Value>| {
            let target = schema.get("$ref").and_then(Value::as_str);
            target.is_none_or(|target| walk::resolve(self.root, target).is_some())
                && !schema.contains_key("$dynamicRef")
        };
        location.is_lost |= !location.here.iter().all(follows);
        location.is_lost || location.here.iter().any(|schema| is_write_only(schema))
    }

    /// Returns the given schemas and all schemas that apply to the same value.
    fn applicable(&self, schemas: impl Iterator<Item = &'s Value>) -> Vec<&'s Map<String, Value>> {
        let mut applicable = Vec::new();
        let mut seen = HashSet::new();
        let mut pending: Vec<&Value> = schemas.collect();
        while let Some(schema) = pending.pop() {
            let Value::Object(keywords) = schema else {
                continue;
            };
            if !seen.insert(std::ptr::from_ref(schema)) {
                continue;
            }
            applicable.push(keywords);
            let target = keywords.get("$ref").and_then(Value::as_str);
            pending.extend(target.and_then(|target| walk::resolve(self.root, target)));
            walk::each(keywords, |keyword, sub| {
                let is_beside = matches!(
                    keyword,
                    "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" | "dependentSchemas" | "dependencies"
                );
                if is_beside {
                    pending.push(sub);
                }
            });
        }
        applicable
    }
}

fn is_write_only(schema: &Map<String, Value>) -> bool {
    schema.get("writeOnly") == Some(&Value::Bool(true))
}

fn declares(schema: &Map<String, Value>, token: &str) -> bool {
    property(schema, token).next().is_some()
}

/// Returns the properties that a token of a pointer may name. The pointer of a violation shortens long keys.
fn property<'s, 't>(schema: &'s Map<String, Value>, token: &'t str) -> impl Iterator<Item = &'s Value> + use<'s, 't> {
    let named = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let is_named = move |name: &str| match token.strip_suffix(MASK) {
        Some(start) => name.starts_with(start),
        None => name == token,
    };
    named.filter(move |(name, _)| is_named(name)).map(|(_, sub)| sub)
}

/// Returns true if a token can only be the index of an item, not a key.
fn is_index_of(schema: &Map<String, Value>, token: &str) -> bool {
    let is_index = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit());
    let has = |keywords: &[&str]| keywords.iter().any(|keyword| schema.contains_key(*keyword));
    is_index && has(&["items", "prefixItems", "contains"]) && !has(&["additionalProperties", "patternProperties"])
}

/// Returns the schemas that may apply to a value inside. Includes those of every pattern, since masking too much is
/// safe.
fn subschemas_at<'s>(schema: &'s Map<String, Value>, token: &str) -> Vec<&'s Value> {
    let mut subs: Vec<&Value> = property(schema, token).collect();
    let is_named = !subs.is_empty();
    let idx = token.parse::<usize>();
    walk::each_at(schema, |keyword, at, sub| {
        let applies = match (keyword, at) {
            ("additionalProperties", _) => !is_named,
            ("prefixItems" | "items", walk::Token::Index(at)) => idx == Ok(at),
            (
                "patternProperties"
                | "unevaluatedProperties"
                | "items"
                | "additionalItems"
                | "contains"
                | "unevaluatedItems",
                _,
            ) => true,
            _ => false,
        };
        if applies {
            subs.push(sub);
        }
    });
    subs
}
