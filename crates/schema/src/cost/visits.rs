//! The number of schemas that visit each level of a value, counted level by level.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use crate::error::{SchemaDiagnostic, SchemaErrorKind};
use crate::graph::{Graph, Label, MAX_DEPTH, MAX_SUBSCHEMAS, SchemaNode};

/// The number of schemas that can visit one location of a value, by level; the last entry counts for all deeper levels.
/// Empty if the numbers are too small to matter.
#[derive(Clone)]
pub(super) struct Visits(Vec<u64>);

/// The evaluation whose visits are counted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum VisitedBy {
    /// Decides whether a value is valid.
    Check,
    /// Explains why a value is not valid, in every branch.
    Explanation,
    /// Decides by `jsonschema`, which cannot be interrupted, and compares a value with each one of an `enum`.
    #[cfg(feature = "jsonschema")]
    Library,
}

/// The number of values of an `enum` with which a value is compared in the time of one visit.
#[cfg(feature = "jsonschema")]
const COMPARED: usize = 16;

/// Counts up to this number are ignored. A schema can reach it without references, by the length of a list.
const NEGLIGIBLE: u64 = 1024;
/// The maximum number of visits for validation, which take some seconds.
pub(super) const VISIT_BUDGET: u64 = 20_000_000;
/// The maximum work for counting, in keys and schemas.
const MAX_WORK: usize = 1 << 21;

impl Visits {
    /// Returns the level at which the visits exceed `limit`.
    pub(super) fn exceed(&self, value: &Value, limit: u64) -> Option<usize> {
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
    pub(super) fn sum(&self, value: &Value) -> u64 {
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
    pub(super) fn count(graph: &Graph<'_>, order: &[usize], by: VisitedBy) -> Result<Self, SchemaDiagnostic> {
        let asks = graph.nodes.iter().any(|node| node.unevaluated);
        let (at, every_branch) = (by.visits_of_each(graph), by == VisitedBy::Explanation);
        let mut counter = Counter { graph, every_branch, asks, at, work: 0 };
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
        if by.is_interrupted() && visits.last().is_some_and(|&last| last <= NEGLIGIBLE) {
            visits.clear();
        }
        Ok(Self(visits))
    }
}

impl VisitedBy {
    /// Returns the number of visits to a value for each schema alone.
    fn visits_of_each(self, graph: &Graph<'_>) -> Vec<u64> {
        match self {
            Self::Check | Self::Explanation => vec![1; graph.nodes.len()],
            #[cfg(feature = "jsonschema")]
            Self::Library => {
                let n_listed = |schema: &Value| schema.get("enum").and_then(Value::as_array).map_or(0, Vec::len);
                graph.schemas().map(|(_, schema)| 1 + (n_listed(schema) / COMPARED) as u64).collect()
            }
        }
    }

    /// Returns true if a cancelled call ends the evaluation.
    fn is_interrupted(self) -> bool {
        matches!(self, Self::Check | Self::Explanation)
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

    fn inside(&self, node: &SchemaNode<'s>, known: &HashMap<usize, Rc<Both<'s>>>) -> Both<'s> {
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
