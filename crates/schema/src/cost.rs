//! An upper bound for the cost of validation, computed from the schema alone: the order of the schemas that refer
//! to one another, and the number of visits to each level of a value.
//!
//! A validator visits a value once for each schema that applies to it. References make this exponential: in the depth
//! of the schema, if each of forty definitions refers to the next one twice, and in the depth of the *value*, if a
//! recursive schema applies several branches to the same property. Therefore the schemas that can meet at one location
//! are counted per level of the value, and a value whose levels add up to too many visits is rejected without being
//! visited.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::error::{SchemaDiagnostic, SchemaErrorKind};
use super::graph::{Graph, Label, MAX_DEPTH, MAX_SUBSCHEMAS, Node};

/// The bounds for the cost of values.
pub(super) struct Cost {
    /// The maximum depth of a value. Unlimited if the validator does not recurse with the value.
    depth: usize,
    /// The visits to validate a value, and those to explain why it does not match, which include every branch.
    checking: Visits,
    explaining: Visits,
}

/// The maximum number of visits for an explanation, each of which may allocate an error.
const EXPLANATION_BUDGET: u64 = 1_000_000;
/// The maximum depth of nested schemas, and with it the stack of the validator.
const MAX_STACK: usize = 384;
/// The minimum depth that a schema must allow for values. Otherwise the schema is rejected.
const MIN_DEPTH: usize = 4;

impl Cost {
    /// Counts the visits to a value of any shape.
    ///
    /// # Errors
    ///
    /// Returns the defect of a schema that is too expensive for any value.
    pub(super) fn new(graph: &Graph<'_>) -> Result<Self, SchemaDiagnostic> {
        let order = in_order(graph)?;
        let depth = depth(graph, &order)?;
        let checking = Visits::count(graph, &order, false)?;
        let has_tags = graph.nodes.iter().any(|node| !node.tagged.is_empty());
        let explaining = if has_tags { Visits::count(graph, &order, true)? } else { checking.clone() };
        Ok(Self { depth, checking, explaining })
    }

    /// Returns the rule that `instance` violates by its size, or `None` if it may be validated.
    pub(super) fn exceeded_limit(&self, instance: &Value) -> Option<String> {
        if is_deeper(instance, self.depth) {
            return Some(format!("is nested too deep: this schema accepts at most {} levels", self.depth));
        }
        self.checking.exceed(instance, VISIT_BUDGET).map(|level| {
            format!(
                "is too expensive to validate: too many subschemas apply to its parts at level {level}; send a smaller value"
            )
        })
    }

    /// Estimates the number of visits to `instance` and its parts.
    pub(super) fn estimate(&self, instance: &Value) -> u64 {
        self.checking.sum(instance)
    }

    /// Returns how much detail an explanation of `instance` can have within the limits.
    pub(super) fn error_detail(&self, instance: &Value) -> ErrorDetail {
        if is_deeper(instance, MAX_DEPTH) {
            ErrorDetail::None
        } else if self.explaining.exceed(instance, EXPLANATION_BUDGET).is_none() {
            ErrorDetail::Full
        } else if self.checking.exceed(instance, EXPLANATION_BUDGET).is_none() {
            ErrorDetail::Discriminated
        } else {
            ErrorDetail::None
        }
    }
}

/// The detail in which violations can be reported within the limits.
pub(super) enum ErrorDetail {
    Full,
    /// By visiting only the branches that match the tags of the value.
    Discriminated,
    None,
}

/// Returns true if a value is nested in more than `levels` arrays and objects.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        _ if levels == usize::MAX => false,
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| is_deeper(value, levels - 1)),
        _ => false,
    }
}

/// Returns the maximum depth of a value.
///
/// A schema without recursion visits a fixed number of levels. A recursive one descends with the value, and uses stack
/// for each level; so does the comparison of items.
fn depth(graph: &Graph<'_>, order: &[usize]) -> Result<usize, SchemaDiagnostic> {
    let highest = longest(graph, order, |node| node.beside().collect());
    let follows = match sorted(graph, |node| node.beside().chain(node.below()).collect()) {
        Ok(order) => longest(graph, &order, |node| node.beside().chain(node.below()).collect()) > MAX_STACK,
        Err(_) => true,
    };
    if !follows && !graph.compares_items {
        return Ok(usize::MAX);
    }
    let levels = MAX_STACK / highest;
    if levels < MIN_DEPTH {
        let most = MAX_STACK / MIN_DEPTH;
        let message = format!("more than {most} schemas refer to or combine one another in a chain, for one value");
        return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
    }
    Ok(levels.min(MAX_DEPTH))
}

/// Returns the schemas in an order in which each follows those that apply to the same value.
fn in_order(graph: &Graph<'_>) -> Result<Vec<usize>, SchemaDiagnostic> {
    sorted(graph, |node| node.beside().collect()).map_err(|id| {
        let message = "the schema refers to itself for the same value, which would never end";
        SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, graph.pointer(id), message)
    })
}

/// Sorts the schemas so that each follows its `others`. Returns a schema of a cycle if there is one.
fn sorted(graph: &Graph<'_>, others: impl Fn(&Node<'_>) -> Vec<usize>) -> Result<Vec<usize>, usize> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; graph.nodes.len()];
    let mut order = Vec::with_capacity(graph.nodes.len());
    for start in 0..graph.nodes.len() {
        let mut pending = vec![(start, false)];
        while let Some((id, is_left)) = pending.pop() {
            if is_left {
                marks[id] = Mark::Done;
                order.push(id);
            } else if marks[id] == Mark::New {
                marks[id] = Mark::Open;
                pending.push((id, true));
                for other in others(&graph.nodes[id]) {
                    match marks[other] {
                        Mark::New => pending.push((other, false)),
                        Mark::Open => return Err(other),
                        Mark::Done => {}
                    }
                }
            }
        }
    }
    Ok(order)
}

/// Returns the length of the longest chain of schemas.
fn longest(graph: &Graph<'_>, order: &[usize], others: impl Fn(&Node<'_>) -> Vec<usize>) -> usize {
    let mut lengths = vec![1; graph.nodes.len()];
    for &id in order {
        lengths[id] += others(&graph.nodes[id]).into_iter().map(|other| lengths[other]).max().unwrap_or_default();
    }
    lengths.into_iter().max().unwrap_or(1)
}

// The number of schemas that visit each level of a value, counted level by level.

/// The number of schemas that can visit one location of a value, by level; the last entry counts for all deeper levels.
/// Empty if the numbers are too small to matter.
#[derive(Clone)]
struct Visits(Vec<u64>);

/// Counts up to this number are ignored. A schema can reach it without references, by the length of a list.
const NEGLIGIBLE: u64 = 1024;
/// The maximum number of visits for validation, which take some seconds.
const VISIT_BUDGET: u64 = 20_000_000;
/// The maximum work for counting, in keys and schemas.
const MAX_WORK: usize = 1 << 21;

impl Visits {
    /// Returns the level at which the visits exceed `limit`.
    fn exceed(&self, value: &Value, limit: u64) -> Option<usize> {
        fn spend(visits: &[u64], value: &Value, level: usize, left: &mut u64) -> Option<usize> {
            let here = visits.get(level).or(visits.last()).copied().unwrap_or_default();
            match left.checked_sub(here) {
                Some(less) => *left = less,
                None => return Some(level),
            }
            match value {
                Value::Array(items) => items.iter().find_map(|item| spend(visits, item, level + 1, left)),
                Value::Object(object) => object.values().find_map(|value| spend(visits, value, level + 1, left)),
                _ => None,
            }
        }
        if self.0.is_empty() { None } else { spend(&self.0, value, 0, &mut limit.clone()) }
    }

    /// Returns the number of visits to `value` and its parts.
    fn sum(&self, value: &Value) -> u64 {
        /// The estimate for schemas whose visits are too few to be counted.
        const UNCOUNTED: u64 = 64;

        fn sum(visits: &[u64], value: &Value, level: usize) -> u64 {
            let here = visits.get(level).or(visits.last()).copied().unwrap_or(UNCOUNTED);
            let inside = match value {
                Value::Array(items) => {
                    items.iter().fold(0, |all: u64, item| all.saturating_add(sum(visits, item, level + 1)))
                }
                Value::Object(object) => {
                    object.values().fold(0, |all: u64, value| all.saturating_add(sum(visits, value, level + 1)))
                }
                _ => 0,
            };
            here.saturating_add(inside)
        }
        sum(&self.0, value, 0)
    }

    /// Counts visits level by level, until the counts are stable or exceed the limit.
    fn count(graph: &Graph<'_>, order: &[usize], every_branch: bool) -> Result<Self, SchemaDiagnostic> {
        let asks = graph.nodes.iter().any(|node| node.unevaluated);
        let mut counter = Counter { graph, every_branch, asks, at: vec![1; graph.nodes.len()], work: 0 };
        counter.in_place(order)?;
        let here = counter.at.clone();
        let mut visits = vec![counter.at[0]];
        let mut changed = vec![true; graph.nodes.len()];
        while visits.len() <= MAX_DEPTH && visits.last().is_some_and(|&last| last <= VISIT_BUDGET) {
            changed = counter.level(order, &here, &changed)?;
            if !changed.contains(&true) {
                break;
            }
            visits.push(counter.at[0]);
        }
        if visits.last().is_some_and(|&last| last <= NEGLIGIBLE) {
            visits.clear();
        }
        Ok(Self(visits))
    }
}

struct Counter<'g, 's> {
    graph: &'g Graph<'s>,
    every_branch: bool,
    /// True if any schema depends on what adjacent schemas have evaluated.
    asks: bool,
    /// For each schema, the maximum number of visits to one location inside a value that it applies to, down to the
    /// current level.
    at: Vec<u64>,
    work: usize,
}

/// The visits to the values inside, and the visits that are repeated to find out what was evaluated.
type Both<'s> = (Inside<'s>, Inside<'s>);

impl<'s> Counter<'_, 's> {
    /// Counts, for each schema, the schemas that apply to the same value.
    fn in_place(&mut self, order: &[usize]) -> Result<(), SchemaDiagnostic> {
        // For unevaluated keywords, the validator evaluates adjacent schemas again, and those adjacent to them.
        let mut again = vec![0_u64; self.graph.nodes.len()];
        for &id in order {
            let node = &self.graph.nodes[id];
            for other in node.beside() {
                again[id] = again[id].saturating_add(self.at[other]).saturating_add(again[other]);
                self.at[id] = self.at[id].saturating_add(self.at[other]);
            }
            if node.unevaluated {
                self.at[id] = self.at[id].saturating_add(again[id]);
            }
            if self.at[id] > MAX_SUBSCHEMAS as u64 {
                let message = format!("more than {} schemas apply to one value, references included", MAX_SUBSCHEMAS);
                return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, self.graph.pointer(id), message));
            }
        }
        Ok(())
    }

    /// Counts one level deeper into the value. Returns the schemas whose count changed.
    fn level(&mut self, order: &[usize], here: &[u64], changed: &[bool]) -> Result<Vec<bool>, SchemaDiagnostic> {
        let mut inside: HashMap<usize, Rc<Both<'s>>> = HashMap::new();
        let mut next = self.at.clone();
        let mut affected = vec![false; order.len()];
        for &id in order {
            let node = &self.graph.nodes[id];
            affected[id] = node.below().any(|below| changed[below]) || node.beside().any(|beside| affected[beside]);
        }
        // A schema adjacent to one that changed also needs its other adjacent schemas.
        let mut needed = affected.clone();
        for &id in order.iter().rev() {
            if needed[id] {
                self.graph.nodes[id].beside().for_each(|beside| needed[beside] = true);
            }
        }
        for &id in order.iter().filter(|&&id| needed[id]) {
            let node = &self.graph.nodes[id];
            // A schema that only refers to another one has the same counts.
            let only = node.in_place.first().filter(|_| !self.asks && node.beside().count() == 1);
            let both = match only.filter(|_| node.below().next().is_none()) {
                Some(other) => Rc::clone(&inside[other]),
                None => {
                    let both = self.inside(node, &inside);
                    self.work += both.0.named.len() + both.1.named.len();
                    Rc::new(both)
                }
            };
            self.work += 1;
            if self.work > MAX_WORK {
                let message =
                    "the schema combines too many subschemas with too many properties to bound the cost of validation";
                return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, self.graph.pointer(id), message));
            }
            next[id] = here[id].max(both.0.most());
            inside.insert(id, both);
        }
        let changed = next.iter().zip(&self.at).map(|(next, last)| next != last).collect();
        self.at = next;
        Ok(changed)
    }

    fn inside(&self, node: &Node<'s>, known: &HashMap<usize, Rc<Both<'s>>>) -> Both<'s> {
        let sum = |ids: &[usize]| ids.iter().fold(0_u64, |sum, &id| sum.saturating_add(self.at[id]));
        let mut own =
            Inside { other_keys: sum(&node.other_keys), other_items: sum(&node.other_items), ..Inside::default() };
        for &(label, id) in &node.named {
            own.named.insert(label, self.at[id]);
        }
        own.add_everywhere(sum(&node.every_key), sum(&node.every_item));

        let mut again = Inside::default();
        for other in &node.in_place {
            let (inside, inside_again) = &*known[other];
            own.add(inside);
            if self.asks {
                again.add(inside);
                again.add(inside_again);
            }
        }
        for branches in &node.tagged {
            let mut one = Inside::default();
            for branch in branches {
                let (inside, inside_again) = &*known[branch];
                if self.every_branch {
                    one.add(inside)
                } else {
                    one.or(inside)
                }
                if self.asks {
                    again.add(inside);
                    again.add(inside_again);
                }
            }
            own.add(&one);
        }
        if node.unevaluated {
            own.add(&again);
        }
        (own, again)
    }
}

/// The number of visits to the values inside, by key or index.
#[derive(Clone, Default)]
struct Inside<'s> {
    named: HashMap<Label<'s>, u64>,
    other_keys: u64,
    other_items: u64,
}

impl<'s> Inside<'s> {
    fn most(&self) -> u64 {
        self.named.values().copied().fold(self.other_keys.max(self.other_items), u64::max)
    }

    fn rest(&self, label: Label<'s>) -> u64 {
        match label {
            Label::Key(_) => self.other_keys,
            Label::Index(_) => self.other_items,
        }
    }

    fn add_everywhere(&mut self, keys: u64, items: u64) {
        for (label, visits) in &mut self.named {
            let more = if matches!(label, Label::Key(_)) { keys } else { items };
            *visits = visits.saturating_add(more);
        }
        self.other_keys = self.other_keys.saturating_add(keys);
        self.other_items = self.other_items.saturating_add(items);
    }

    fn add(&mut self, more: &Self) {
        self.join(more, u64::saturating_add);
    }

    /// Combines the counts of branches. Of an object only one branch is visited; of an array, which has no tag, every
    /// one.
    fn or(&mut self, more: &Self) {
        let items = self.other_items.saturating_add(more.other_items);
        self.join(more, u64::max);
        self.other_items = items;
    }

    fn join(&mut self, more: &Self, with: fn(u64, u64) -> u64) {
        let (keys, items) = (self.other_keys, self.other_items);
        let rest = |label: &Label<'_>| if matches!(label, Label::Key(_)) { keys } else { items };
        if self.named.is_empty() {
            // Copies the table, in which each label has its place already.
            self.named.clone_from(&more.named);
            self.named.iter_mut().for_each(|(label, visits)| *visits = with(rest(label), *visits));
        } else {
            for (label, visits) in &mut self.named {
                *visits = with(*visits, more.named.get(label).copied().unwrap_or_else(|| more.rest(*label)));
            }
            for (label, visits) in &more.named {
                self.named.entry(*label).or_insert_with(|| with(rest(label), *visits));
            }
        }
        self.other_keys = with(keys, more.other_keys);
        self.other_items = with(items, more.other_items);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::*;
    use crate::dialect::Dialect;
    use crate::reference::References;

    fn cost(schema: &Value) -> Result<Cost, SchemaDiagnostic> {
        let references = References::new(schema, Dialect::Draft202012, false)?;
        Cost::new(&Graph::new(schema, Dialect::Draft202012, &references)?.0)
    }

    #[test]
    fn the_depth_of_a_value_is_bounded_only_if_the_validator_recurses_with_it() {
        for (schema, depth) in [
            (json!({}), usize::MAX),
            (json!({ "properties": { "a": { "items": { "type": "string" } } } }), usize::MAX),
            (json!({ "uniqueItems": true }), MAX_DEPTH),
            (json!({ "properties": { "a": { "$ref": "#" } } }), MAX_DEPTH),
            // Each level has a chain of five schemas: the reference, the root, and three nested parts.
            (json!({ "allOf": [{ "allOf": [{ "allOf": [{}] }] }], "items": { "$ref": "#" } }), MAX_STACK / 5),
        ] {
            assert_eq!(cost(&schema).unwrap().depth, depth, "{schema}");
        }
    }

    #[test]
    fn definitions_that_refer_twice_to_the_next_one_double_the_visits() {
        let doubling = |n: usize| {
            let next = |i: usize| json!({ "$ref": format!("#/$defs/{}", i + 1) });
            let mut definitions: Map<String, Value> =
                (0..n).map(|i| (i.to_string(), json!({ "allOf": [next(i), { "anyOf": [next(i)] }] }))).collect();
            definitions.insert(n.to_string(), json!({}));
            json!({ "$ref": "#/$defs/0", "$defs": definitions })
        };
        // Few visits are not counted.
        assert_eq!(cost(&doubling(4)).unwrap().estimate(&json!(1)), 64);
        let visits = |n| cost(&doubling(n)).unwrap().estimate(&json!(1));
        assert!(visits(10) > 1 << 10 && visits(11) > 2 * visits(10), "{} {}", visits(10), visits(11));
        assert_eq!(cost(&doubling(40)).err().unwrap().kind(), SchemaErrorKind::TooComplex);
    }

    #[test]
    fn a_value_is_explained_in_full_only_if_every_branch_can_be_visited() {
        let branch = |tag: &str| {
            let properties = json!({ "tag": { "const": tag }, "next": { "$ref": "#" } });
            json!({ "type": "object", "required": ["tag"], "properties": properties })
        };
        let cost = cost(&json!({ "oneOf": [branch("a"), branch("b"), branch("c")] })).unwrap();
        let nested = |n| (0..n).fold(json!(null), |next, _| json!({ "tag": "a", "next": next }));
        assert!(matches!(cost.error_detail(&nested(3)), ErrorDetail::Full));
        assert!(matches!(cost.error_detail(&nested(40)), ErrorDetail::Discriminated));
        assert!(matches!(cost.error_detail(&nested(MAX_DEPTH + 1)), ErrorDetail::None));
    }
}
