//! Search for a value that demonstrates a breaking change.

use std::cell::Cell;
use std::collections::HashSet;

use serde_json::{Map, Value, json};

use super::budget::Budget;
use crate::{Dialect, Schema, equality, walk};

/// Searches for a value that matches `accepts` and not `refuses`, within the budget.
pub(super) fn witness(accepts: &Value, refuses: &Value, budget: &Budget) -> Option<Value> {
    let sampler = Sampler::new(accepts, refuses, budget);
    let mut samples = sampler.samples(Side::Accepting, accepts, Some(refuses), MAX_DEPTH);
    // The schemas differ in what only one of them declares, so samples of both are tried.
    samples.extend(sampler.samples(Side::Refusing, refuses, Some(accepts), MAX_DEPTH));
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
enum Side {
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

    fn root(&self, side: Side) -> &'s Value {
        if side == Side::Accepting { self.accepts } else { self.refuses }
    }

    fn is_draft_07(&self, side: Side) -> bool {
        Dialect::from_document(self.root(side)) == Ok(Dialect::Draft7)
    }

    /// Returns values at the bounds of a schema and just beyond them, not all of which match. If the schema equals
    /// `other`, a few that match are sufficient.
    fn samples(&self, side: Side, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
        let is_same = self.has_same_definitions && other == Some(schema);
        if is_same && self.left.get() < MAX_VALUES / 4 {
            return vec![Value::Null];
        }
        let mut found = self.all_samples(side, schema, other, depth);
        found.truncate(if is_same { MAX_SAME } else { max_samples(depth) });
        found
    }

    fn all_samples(&self, side: Side, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
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
    fn target<'v>(&self, side: Side, schema: &'v Value) -> &'v Value
    where
        's: 'v,
    {
        let reference = schema.get("$ref").and_then(Value::as_str);
        reference.and_then(|reference| walk::resolve(self.root(side), reference)).unwrap_or(schema)
    }

    /// Returns the samples of a property, those that match first.
    fn fitting(&self, side: Side, schema: &Value, other: Option<&Value>, depth: usize) -> Vec<Value> {
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

impl Side {
    fn opposite(self) -> Self {
        if self == Self::Accepting { Self::Refusing } else { Self::Accepting }
    }
}

// Samples of arrays and objects.

/// The maximum number of properties of an object that is generated for its size.
const MAX_COUNT: u64 = 32;
/// The maximum number of differing properties for which all samples are generated.
const MAX_DIFFERING: usize = 100;
/// The maximum number of properties of which each is omitted once.
const MAX_LEFT_OUT: usize = 16;

impl Sampler<'_> {
    /// Returns arrays of several lengths, and arrays that vary in one item.
    fn lists(&self, side: Side, keywords: &Map<String, Value>, other: Option<&Value>, depth: usize) -> Vec<Value> {
        const MAX_ITEMS: u64 = 64;

        let get = |keyword: &str| keywords.get(keyword).filter(|value| !value.is_array());
        let rest = if self.is_draft_07(side) { get("items").or(get("additionalItems")) } else { get("items") };
        let same = other.and_then(|other| other.get("items")).filter(|other| !other.is_array());
        let items = self.samples(side, rest.unwrap_or(&Value::Bool(true)), same, depth - 1);
        let prefix = ["prefixItems", "items"].into_iter().find_map(|keyword| keywords.get(keyword)?.as_array());
        let prefix = prefix.map_or(&[][..], Vec::as_slice);
        let same = ["prefixItems", "items"].into_iter().find_map(|keyword| other?.get(keyword)?.as_array());
        let places = prefix.iter().enumerate().take(MAX_ITEMS as usize);
        let places: Vec<Vec<Value>> = places
            .map(|(idx, place)| self.samples(side, place, same.and_then(|same| same.get(idx)), depth - 1))
            .collect();
        let first: Vec<Value> = places.iter().filter_map(|values| values.first().cloned()).collect();
        let bounds = ["minItems", "maxItems"].into_iter();
        let bounds = bounds.flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
        let bounds = bounds.filter_map(|bound| bound?.as_u64());
        let mut lengths: Vec<u64> =
            bounds.flat_map(|bound| [bound.saturating_sub(1), bound, bound.saturating_add(1)]).collect();
        lengths.extend([0, 1, 2, first.len() as u64, first.len() as u64 + 1]);
        lengths.retain(|length| *length <= MAX_ITEMS);
        let least = keywords.get("minItems").and_then(Value::as_u64).unwrap_or(1).clamp(1, MAX_ITEMS);
        let filled = |first: &[Value], item: &Value, length: u64| -> Value {
            let rest = (first.len() as u64..length).map(|_| item.clone());
            first.iter().take(length as usize).cloned().chain(rest).collect()
        };
        let mut lists: Vec<Value> = Vec::new();
        if let Some(item) = items.first() {
            lists.extend(lengths.into_iter().map(|length| filled(&first, item, length)));
        }
        let length = least.max(first.len() as u64 + 1);
        lists.extend(
            items.iter().filter(|_| self.spend_values(length as usize)).map(|item| filled(&first, item, length)),
        );
        for contained in [keywords.get("contains"), other.and_then(|other| other.get("contains"))].into_iter().flatten()
        {
            let items = self.samples(side, contained, None, depth - 1);
            for item in items.iter().take(MAX_SAME) {
                lists.extend((1..4).filter(|n| self.spend_values(*n)).map(|n| Value::Array(vec![item.clone(); n])));
            }
        }
        for (idx, values) in places.iter().enumerate() {
            let others = [Value::Null, json!(7), json!("another")];
            for value in values.iter().skip(1).chain(&others) {
                if idx >= first.len() || !self.spend_values(first.len() + 1) {
                    break;
                }
                let mut first = first.clone();
                first[idx] = value.clone();
                lists.push(Value::Array(first));
            }
        }
        lists
    }

    /// Returns the smallest and the largest object, and both with one property varied or omitted.
    fn objects(&self, side: Side, keywords: &Map<String, Value>, other: Option<&Value>, depth: usize) -> Vec<Value> {
        let empty = Map::new();
        let properties = keywords.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let others = other.and_then(|other| other.get("properties")?.as_object()).unwrap_or(&empty);
        let required = names(Some(keywords), "required");
        let other_required = names(other.and_then(Value::as_object), "required");
        let mut of_each: Vec<(&str, Vec<Value>)> = Vec::new();
        let mut n_differing = 0;
        for (name, schema) in properties {
            let same = others.get(name);
            n_differing += usize::from(same != Some(schema));
            // A single difference is sufficient as an example.
            let same = if n_differing > MAX_DIFFERING { Some(schema) } else { same };
            of_each.push((name, self.fitting(side, schema, same, depth)));
        }
        let is_missing = |name: &&&str| !properties.contains_key(**name);
        of_each.extend(required.iter().filter(is_missing).map(|name| (*name, vec![Value::Null])));
        let first = |(name, values): &(&str, Vec<Value>)| Some(((*name).to_owned(), values.first()?.clone()));
        let full: Map<String, Value> = of_each.iter().filter_map(first).collect();
        let is_required = |name: &str| required.contains(&name);
        let least = full.iter().filter(|(name, _)| is_required(name));
        let least: Map<String, Value> = least.map(|(name, value)| (name.clone(), value.clone())).collect();
        let mut objects = vec![least.clone(), full.clone()];
        let mut add = |base: &Map<String, Value>, name: &str, value: Option<&Value>| {
            if !self.spend_values(base.len() + 1) {
                return;
            }
            let mut object = base.clone();
            match value {
                Some(value) => drop(object.insert(name.to_owned(), value.clone())),
                None => drop(object.remove(name)),
            }
            objects.push(object);
        };
        // Each value is also tried alone, since two values together may be rejected for another reason.
        for (name, schema) in others.iter().filter(|(name, _)| !properties.contains_key(*name)).take(MAX_SAMPLES) {
            let mut values = self.samples(side.opposite(), schema, None, depth - 1);
            values.truncate(MAX_SAME);
            values.extend([json!({ "another": 1 }), json!("another"), json!(7), Value::Null]);
            values.iter().for_each(|value| add(&least, name, Some(value)));
        }
        let dependent = ["dependentRequired", "dependentSchemas", "dependencies"].into_iter().flat_map(|keyword| {
            let of_other = other.and_then(|other| other.get(keyword));
            [keywords.get(keyword), of_other].into_iter().flatten().filter_map(Value::as_object)
        });
        for key in dependent.flat_map(Map::keys).take(MAX_SAMPLES) {
            add(&least, key, full.get(key).or(Some(&Value::from(1))));
        }
        let pattern = keywords.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
        for (pattern, schema) in pattern.take(MAX_SAME) {
            let name = Schema::from_value(json!({ "type": "string", "pattern": pattern }));
            if let Some(Value::String(name)) = name.ok().and_then(|schema| schema.example()) {
                let values = self.samples(side, schema, None, depth - 1);
                values.iter().take(8).for_each(|value| add(&least, &name, Some(value)));
            }
        }
        for (name, values) in &of_each {
            let is_decided_otherwise = is_required(name) != other_required.contains(name);
            if of_each.len() <= MAX_LEFT_OUT || is_decided_otherwise || !others.contains_key(*name) {
                add(&least, name, None);
                add(&full, name, None);
                let mut one = least.clone();
                one.extend(full.get(*name).map(|value| ((*name).to_owned(), value.clone())));
                add(&one, "", None);
            }
            let differs = others.get(*name).is_some_and(|other| properties.get(*name) != Some(other));
            let n_values = if differs || of_each.len() <= MAX_LEFT_OUT { values.len() } else { 1 };
            for value in values.iter().skip(1).take(n_values) {
                add(&least, name, Some(value));
            }
        }
        for (name, values) in of_each.iter().take(MAX_SAMPLES) {
            values.iter().skip(1).for_each(|value| add(&full, name, Some(value)));
        }
        let counts = ["minProperties", "maxProperties"]
            .into_iter()
            .flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))].into_iter().flatten());
        for count in counts.filter_map(Value::as_u64).filter(|count| *count <= MAX_COUNT) {
            for (base, count) in [(&least, count.saturating_sub(1)), (&least, count + 1)] {
                let mut object = base.clone();
                let more = (0..).map(|n| (format!("more{n}"), json!(n)));
                object.extend(more.take((count as usize).saturating_sub(base.len())));
                add(&object, "", None);
            }
        }
        let rest = keywords.get("additionalProperties").filter(|rest| rest.is_object());
        let rest = rest.map(|rest| self.samples(side, rest, None, depth - 1)).unwrap_or_default();
        rest.iter().take(8).chain([&json!(1), &json!("a")]).for_each(|value| add(&least, "another", Some(value)));
        for (name, _) in others.iter().filter(|(name, _)| properties.contains_key(*name)).take(2) {
            add(&least, name, Some(&Value::Null));
        }
        objects.into_iter().map(Value::Object).collect()
    }
}

// Samples of schemas without subschemas.

/// Returns numbers at the bounds of two schemas and just beyond them.
fn numbers(keywords: &Map<String, Value>, other: Option<&Value>, name: &str) -> Vec<Value> {
    const BOUNDS: [&str; 5] = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"];

    let both = BOUNDS.into_iter().flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
    let bounds: Vec<f64> = both.filter_map(|bound| bound?.as_f64()).collect();
    let mut numbers = Vec::new();
    for bound in bounds.into_iter().filter(|bound| bound.abs() < 1e15) {
        numbers.extend([bound - 1.0, bound, bound + 1.0].map(|near| json!(near.trunc() as i64)));
        if name == "number" {
            numbers.extend([json!(bound), json!(bound + 0.5), json!(bound - 0.5)]);
        }
    }
    numbers.extend([json!(0), json!(1), json!(-1), json!(1000)]);
    if name == "number" {
        numbers.push(json!(0.5));
    }
    numbers
}

/// Returns strings of the minimum and maximum lengths.
fn texts(keywords: &Map<String, Value>, other: Option<&Value>) -> Vec<Value> {
    /// Longer strings demonstrate nothing that shorter ones do not.
    const MAX_LENGTH: u64 = 4096;

    let lengths = ["minLength", "maxLength"].into_iter();
    let lengths = lengths.flat_map(|bound| [keywords.get(bound), other.and_then(|other| other.get(bound))]);
    let lengths = lengths.filter_map(|bound| bound?.as_u64());
    let mut texts: Vec<Value> = Vec::new();
    let pattern = |keywords: &Value| {
        let pattern = json!({ "type": "string", "pattern": keywords.get("pattern")? });
        Schema::from_value(pattern).ok()?.example()
    };
    if keywords.contains_key("pattern") {
        let text: Map<String, Value> = keywords
            .iter()
            .filter(|(keyword, _)| *keyword != "examples")
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect();
        texts.extend(Schema::from_value(text.into()).ok().and_then(|schema| schema.example()));
    }
    texts.extend([json!("a"), json!(""), json!("Text 1")]);
    for length in lengths.filter(|length| *length <= MAX_LENGTH) {
        texts.extend([length.saturating_sub(1), length, length + 1].map(|length| json!("a".repeat(length as usize))));
    }
    texts.extend(keywords.get("examples").and_then(Value::as_array).into_iter().flatten().take(4).cloned());
    texts.extend(other.and_then(pattern));
    texts
}

/// Returns the strings of a keyword that is a list.
fn names<'s>(keywords: Option<&'s Map<String, Value>>, keyword: &str) -> Vec<&'s str> {
    let names = keywords.and_then(|keywords| keywords.get(keyword)?.as_array());
    names.into_iter().flatten().filter_map(Value::as_str).collect()
}

/// Returns a part of a document together with the definitions that it may refer to.
fn alone(part: &Value, document: &Value) -> Value {
    let mut part = match part {
        Value::Bool(true) => Value::Object(Map::new()),
        Value::Bool(false) => json!({ "not": {} }),
        part => part.clone(),
    };
    if let (Value::Object(part), Some(document)) = (&mut part, document.as_object()) {
        for container in walk::CONTAINERS.into_iter().chain(["$schema"]) {
            if let Some(definitions) = document.get(container) {
                part.entry(container).or_insert_with(|| definitions.clone());
            }
        }
    }
    part
}
