//! Search for a value that demonstrates a breaking change.

mod containers;
mod scalars;

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Value, json};

use self::scalars::{alone, numbers, texts};
use super::budget::Budget;
use crate::dialect::Dialect;
use crate::{Schema, equality, walk};

/// Searches for a value that matches `accepts` and not `refuses`, within the budget.
pub(super) fn witness(accepts: &Value, refuses: &Value, budget: &Budget) -> Option<Value> {
    let sampler = Sampler::new(accepts, refuses, budget);
    let mut samples = sampler.samples(WitnessSide::Accepting, accepts, Some(refuses), MAX_DEPTH);
    // The schemas differ in what only one of them declares, so samples of both are tried.
    samples.extend(sampler.samples(WitnessSide::Refusing, refuses, Some(accepts), MAX_DEPTH));
    budget.spend_up_to(sampler.spent());
    // The validators are built one after the other, since a schema with many patterns uses much memory.
    let accepting = Schema::from_value(accepts.clone()).ok()?;
    let mut visits = VISIT_BUDGET;
    samples.extend(accepting.example());
    samples.retain(|value| spend_visits(&mut visits, &accepting, value) && accepting.is_valid(value));
    drop(accepting);
    let refusing = Schema::from_value(refuses.clone()).ok()?;
    let mut visits = VISIT_BUDGET;
    samples.into_iter().find(|value| spend_visits(&mut visits, &refusing, value) && !refusing.is_valid(value))
}

/// Deducts the cost of validating a value. Returns false if it exceeds the number of visits that are left.
fn spend_visits(visits: &mut u64, schema: &Schema, value: &Value) -> bool {
    let left = visits.checked_sub(schema.check_cost(value));
    *visits = left.unwrap_or(*visits);
    left.is_some()
}

/// The maximum number of visits for validating all samples.
const VISIT_BUDGET: u64 = 5_000_000;
/// The maximum depth of samples.
const MAX_DEPTH: usize = 10;
/// The maximum number of samples of a schema.
const MAX_SAMPLES: usize = 48;
/// The maximum number of samples of a schema that is equal in both documents.
const MAX_SAME: usize = 3;
/// The maximum number of JSON values in all samples.
const MAX_VALUES: usize = 400_000;

#[derive(Clone, Copy, PartialEq)]
enum WitnessSide {
    Accepting,
    Refusing,
}

/// Generates values near the locations where two schemas differ.
struct Sampler<'s> {
    accepts: &'s Value,
    refuses: &'s Value,
    /// True if equal references resolve to equal schemas.
    has_same_definitions: bool,
    initial: usize,
    left: Cell<usize>,
}

impl<'s> Sampler<'s> {
    fn new(accepts: &'s Value, refuses: &'s Value, budget: &Budget) -> Self {
        let is_same = |keyword: &str| accepts.get(keyword) == refuses.get(keyword);
        let has_same_definitions = ["$defs", "definitions", "$schema"].into_iter().all(is_same);
        let initial = usize::try_from(budget.left()).unwrap_or(usize::MAX).min(MAX_VALUES);
        Self { accepts, refuses, has_same_definitions, initial, left: Cell::new(initial) }
    }

    fn spent(&self) -> u64 {
        (self.initial - self.left.get()) as u64
    }

    /// Deducts `n` values from the budget.
    fn spend_values(&self, n: usize) -> bool {
        let left = self.left.get().checked_sub(n);
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }

    fn root(&self, side: WitnessSide) -> &'s Value {
        if side == WitnessSide::Accepting { self.accepts } else { self.refuses }
    }

    fn is_draft_07(&self, side: WitnessSide) -> bool {
        Dialect::from_document(self.root(side)) == Ok(Dialect::Draft7)
    }

    /// Returns values at the bounds of a schema and just beyond them, not all of which match. If the schema equals
    /// `other`, a few that match are sufficient.
    fn samples(&self, side: WitnessSide, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
        let is_same = self.has_same_definitions && other == Some(schema);
        if is_same && self.left.get() < MAX_VALUES / 4 {
            return vec![Value::Null];
        }
        let mut found = self.all_samples(side, schema, other, depth);
        found.truncate(if is_same { MAX_SAME } else { max_samples(depth) });
        found
    }

    fn all_samples(&self, side: WitnessSide, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
        if depth == 0 || !self.spend_values(1) {
            return vec![Value::Null];
        }
        let Value::Object(keywords) = schema else {
            return vec![Value::Null, json!(1)];
        };
        let other = other.map(|other| self.target(side.opposite(), other));
        if let Some(Value::String(to)) = keywords.get("$ref") {
            let target = walk::resolve(self.root(side), to);
            return target.map_or_else(Vec::new, |target| self.samples(side, target, other, depth - 1));
        }
        let mut found = Vec::new();
        let add = |found: &mut Vec<Value>, values: Vec<Value>| {
            let room = (2 * max_samples(depth)).saturating_sub(found.len());
            found.extend(values.into_iter().take(room).filter(|value| self.spend_values(walk::size(value))));
        };
        add(&mut found, keywords.get("const").cloned().into_iter().collect());
        let values = keywords.get("enum").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let others = other.and_then(|other| other.get("enum")?.as_array()).map_or(&[][..], Vec::as_slice);
        // Values that only one of the schemas lists come first.
        let new = if others.is_empty() { Vec::new() } else { self.unlisted(values, others) };
        add(&mut found, new.into_iter().chain(values.iter().take(MAX_SAMPLES)).cloned().collect());
        for choice in ["anyOf", "oneOf", "allOf"] {
            let branches = keywords.get(choice).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
            let others = other.and_then(|other| other.get(choice)?.as_array()).map_or(&[][..], Vec::as_slice);
            for (idx, branch) in branches.iter().enumerate().take(2 * MAX_SAMPLES) {
                let same = others.iter().find(|other| *other == branch).or(others.get(idx));
                add(&mut found, self.samples(side, branch, same, depth - 1));
            }
        }
        for keyword in ["if", "then", "else"] {
            if let Some(part) = keywords.get(keyword) {
                add(&mut found, self.samples(side, part, other.and_then(|other| other.get(keyword)), depth - 1));
            }
        }
        let names: Vec<&str> = match keywords.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ if keywords.contains_key("properties") => vec!["object"],
            _ if found.is_empty() => vec!["null", "boolean", "integer", "number", "string", "array", "object"],
            _ => Vec::new(),
        };
        for name in names {
            let values = match name {
                "null" => vec![Value::Null],
                "boolean" => vec![json!(true), json!(false)],
                "integer" | "number" => numbers(keywords, other, name),
                "string" => texts(keywords, other),
                "array" => self.lists(side, keywords, other, depth),
                "object" => self.objects(side, keywords, other, depth),
                _ => Vec::new(),
            };
            add(&mut found, values);
        }
        found
    }

    /// Returns a few of the values that the others do not contain.
    fn unlisted<'v>(&self, values: &'v [Value], others: &[Value]) -> Vec<&'v Value> {
        let text = |value: &Value| {
            let mut text = String::new();
            equality::write_canonical(value, &mut text);
            text
        };
        if !self.spend_values(values.len() + others.len()) {
            return Vec::new();
        }
        let others: HashSet<String> = others.iter().map(text).collect();
        values.iter().filter(|value| !others.contains(&text(value))).take(MAX_SAME).collect()
    }

    /// Returns the schema with its reference followed.
    fn target<'v>(&self, side: WitnessSide, schema: &'v Value) -> &'v Value
    where
        's: 'v,
    {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.and_then(|reference| walk::resolve(self.root(side), reference)).unwrap_or(schema)
    }

    /// Returns the samples of a property, those that match first.
    fn fitting(&self, side: WitnessSide, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
        let mut values = self.samples(side, schema, other, depth - 1);
        let root = self.root(side);
        let definitions = walk::CONTAINERS.into_iter().filter_map(|container| root.get(container)).map(walk::size);
        // Building a validator is much more expensive than creating a value.
        if values.len() > 1
            && self.spend_values(20 * (walk::size(schema) + definitions.sum::<usize>()))
            && let Ok(schema) = Schema::from_value(alone(schema, root))
        {
            values.sort_by_key(|value| !schema.is_valid(value));
        }
        values
    }
}

/// Returns the maximum number of samples at a depth. There are more of the root, each for another location.
fn max_samples(depth: usize) -> usize {
    if depth == MAX_DEPTH { 100 * MAX_SAMPLES } else { MAX_SAMPLES }
}

impl WitnessSide {
    fn opposite(self) -> Self {
        if self == Self::Accepting { Self::Refusing } else { Self::Accepting }
    }
}
