//! How much work a value can be, found before there is one.
//!
//! A validator looks at a value once for each schema that applies to it. References make that exponential: in the
//! depth of the schema, where each of forty definitions joins the next one twice, and in the depth of the *value*, where
//! a recursive schema looks at the same property in several branches. So the schemas that can meet at one place are
//! counted per level of the value, and a value whose levels add up to too much is refused before it is looked at.

use std::collections::HashMap;
use std::rc::Rc;

use serde_json::Value;

use super::error::{SchemaErrorKind, SchemaFault};
use super::graph::{Graph, Label, Node};
use super::limits::{MAX_DEPTH, MAX_SUBSCHEMAS};

/// What a value may cost.
pub(super) struct Cost {
    /// How deep a value may be: bounded where the validator follows it down.
    depth: usize,
    /// For finding out whether a value fits, and for saying why it does not: then every branch is looked at.
    checking: Looks,
    telling: Looks,
}

/// How many schemas can look at one place of a value, by its level; deeper ones as the last. Empty where it is so few
/// that nobody need count.
struct Looks(Vec<u64>);

/// This many looks at one place are no matter of references; a schema may list as many values.
const FEW: u64 = 1024;
/// How many looks at a value are taken: some seconds.
const MAX_LOOKS: u64 = 20_000_000;
/// How many are taken to say why it does not fit, each of which leaves an error behind.
const MAX_TELLING: u64 = 1_000_000;
/// How many schemas within schemas the validator goes down, and with it the stack.
const MAX_STACK: usize = 384;
/// Where a value may not be this deep, the schema is refused instead.
const MIN_DEPTH: usize = 4;
/// How many keys and schemas are brought together to count.
const MAX_WORK: usize = 1 << 21;

impl Cost {
    /// # Errors
    ///
    /// The fault of a schema that no value should be checked against.
    pub(super) fn of(graph: &Graph<'_>) -> Result<Self, SchemaFault> {
        let order = in_order(graph)?;
        let depth = depth(graph, &order)?;
        let checking = Looks::count(graph, &order, false)?;
        let has_tags = graph.nodes.iter().any(|node| !node.tagged.is_empty());
        let telling = if has_tags { Looks::count(graph, &order, true)? } else { Looks(checking.0.clone()) };
        Ok(Self { depth, checking, telling })
    }

    /// Why `instance` must not be looked at.
    pub(super) fn refusal(&self, instance: &Value) -> Option<String> {
        if is_deeper(instance, self.depth) {
            return Some(format!("is nested too deep for this schema: at most {} levels", self.depth));
        }
        self.checking.exceed(instance, MAX_LOOKS).map(|level| {
            format!(
                "takes too long to check: what is nested {level} levels deep is looked at too often; send less of it"
            )
        })
    }

    /// Estimates how many schemas look at `instance` and what is inside it.
    pub(super) fn estimate(&self, instance: &Value) -> u64 {
        /// Where the looks were not counted, as they are few.
        const USUAL: u64 = 64;

        fn sum(looks: &[u64], value: &Value, level: usize) -> u64 {
            let here = looks.get(level).or(looks.last()).copied().unwrap_or(USUAL);
            let inside = match value {
                Value::Array(items) => {
                    items.iter().fold(0, |all: u64, item| all.saturating_add(sum(looks, item, level + 1)))
                }
                Value::Object(object) => {
                    object.values().fold(0, |all: u64, value| all.saturating_add(sum(looks, value, level + 1)))
                }
                _ => 0,
            };
            here.saturating_add(inside)
        }
        sum(&self.checking.0, instance, 0)
    }

    /// How what is wrong with `instance` can be found.
    pub(super) fn telling(&self, instance: &Value) -> Telling {
        if is_deeper(instance, MAX_DEPTH) {
            Telling::Nothing
        } else if self.telling.exceed(instance, MAX_TELLING).is_none() {
            Telling::Whole
        } else if self.checking.exceed(instance, MAX_TELLING).is_none() {
            Telling::ByTag
        } else {
            Telling::Nothing
        }
    }
}

/// How what is wrong with a value can be found in reasonable time.
pub(super) enum Telling {
    Whole,
    /// Looking only into the branches that the tags of the value leave.
    ByTag,
    Nothing,
}

/// Whether a value is nested in more than so many lists and objects.
pub(super) fn is_deeper(value: &Value, levels: usize) -> bool {
    match value {
        _ if levels == usize::MAX => false,
        Value::Array(items) => levels == 0 || items.iter().any(|item| is_deeper(item, levels - 1)),
        Value::Object(object) => levels == 0 || object.values().any(|value| is_deeper(value, levels - 1)),
        _ => false,
    }
}

impl Looks {
    /// The level at which the looks add up to more than `limit`.
    fn exceed(&self, value: &Value, limit: u64) -> Option<usize> {
        fn spend(looks: &[u64], value: &Value, level: usize, left: &mut u64) -> Option<usize> {
            let here = looks.get(level).or(looks.last()).copied().unwrap_or_default();
            match left.checked_sub(here) {
                Some(less) => *left = less,
                None => return Some(level),
            }
            match value {
                Value::Array(items) => items.iter().find_map(|item| spend(looks, item, level + 1, left)),
                Value::Object(object) => object.values().find_map(|value| spend(looks, value, level + 1, left)),
                _ => None,
            }
        }
        if self.0.is_empty() { None } else { spend(&self.0, value, 0, &mut limit.clone()) }
    }

    /// Counts level by level, until nothing changes or it is too much.
    fn count(graph: &Graph<'_>, order: &[usize], every_branch: bool) -> Result<Self, SchemaFault> {
        let asks = graph.nodes.iter().any(|node| node.unevaluated);
        let mut counter = Counter { graph, every_branch, asks, at: vec![1; graph.nodes.len()], work: 0 };
        counter.in_place(order)?;
        let here = counter.at.clone();
        let mut looks = vec![counter.at[0]];
        let mut changed = vec![true; graph.nodes.len()];
        while looks.len() <= MAX_DEPTH && looks.last().is_some_and(|&last| last <= MAX_LOOKS) {
            changed = counter.level(order, &here, &changed)?;
            if !changed.contains(&true) {
                break;
            }
            looks.push(counter.at[0]);
        }
        if looks.last().is_some_and(|&last| last <= FEW) {
            looks.clear();
        }
        Ok(Self(looks))
    }
}

struct Counter<'g, 's> {
    graph: &'g Graph<'s>,
    every_branch: bool,
    /// Whether any schema asks what its neighbours have looked at.
    asks: bool,
    /// For each schema, how many looks there can be at one place inside a value that it is applied to, down to the
    /// level in hand.
    at: Vec<u64>,
    work: usize,
}

/// How many looks there can be at the values inside, by key or index.
#[derive(Clone, Default)]
struct Inside<'s> {
    named: HashMap<Label<'s>, u64>,
    other_keys: u64,
    other_items: u64,
}

/// The looks at what is inside, and those that are taken again to know what was looked at.
type Both<'s> = (Inside<'s>, Inside<'s>);

impl<'s> Counter<'_, 's> {
    /// How many schemas apply to the same value, with each of them.
    fn in_place(&mut self, order: &[usize]) -> Result<(), SchemaFault> {
        // To know what the neighbours have looked at, the validator asks them again, and their own neighbours.
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
                return Err(SchemaFault::new(SchemaErrorKind::TooComplex, self.graph.pointer(id), message));
            }
        }
        Ok(())
    }

    /// Goes one level deeper into the value; says for which schemas that made a difference.
    fn level(&mut self, order: &[usize], here: &[u64], changed: &[bool]) -> Result<Vec<bool>, SchemaFault> {
        let mut inside: HashMap<usize, Rc<Both<'s>>> = HashMap::new();
        let mut next = self.at.clone();
        let mut affected = vec![false; order.len()];
        for &id in order {
            let node = &self.graph.nodes[id];
            affected[id] = node.below().any(|below| changed[below]) || node.beside().any(|beside| affected[beside]);
        }
        // A schema beside one that changed needs the rest of its neighbours too.
        let mut needed = affected.clone();
        for &id in order.iter().rev() {
            if needed[id] {
                self.graph.nodes[id].beside().for_each(|beside| needed[beside] = true);
            }
        }
        for &id in order.iter().filter(|&&id| needed[id]) {
            let node = &self.graph.nodes[id];
            // A schema that only refers to another one says what that one says.
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
                let message = "it joins too many schemas with too many properties to count what a value costs";
                return Err(SchemaFault::new(SchemaErrorKind::TooComplex, self.graph.pointer(id), message));
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
        for (label, looks) in &mut self.named {
            let more = if matches!(label, Label::Key(_)) { keys } else { items };
            *looks = looks.saturating_add(more);
        }
        self.other_keys = self.other_keys.saturating_add(keys);
        self.other_items = self.other_items.saturating_add(items);
    }

    fn add(&mut self, more: &Self) {
        self.join(more, u64::saturating_add);
    }

    /// Of an object one branch is looked into; of a list, which has no tag, every one.
    fn or(&mut self, more: &Self) {
        let items = self.other_items.saturating_add(more.other_items);
        self.join(more, u64::max);
        self.other_items = items;
    }

    fn join(&mut self, more: &Self, with: fn(u64, u64) -> u64) {
        for (label, looks) in &mut self.named {
            *looks = with(*looks, more.named.get(label).copied().unwrap_or_else(|| more.rest(*label)));
        }
        let (keys, items) = (self.other_keys, self.other_items);
        for (label, looks) in &more.named {
            let rest = if matches!(label, Label::Key(_)) { keys } else { items };
            self.named.entry(*label).or_insert_with(|| with(rest, *looks));
        }
        self.other_keys = with(keys, more.other_keys);
        self.other_items = with(items, more.other_items);
    }
}

/// The schemas, each after those that apply to the same value with it.
fn in_order(graph: &Graph<'_>) -> Result<Vec<usize>, SchemaFault> {
    sorted(graph, |node| node.beside().collect()).map_err(|id| {
        let message = "it leads back to itself for the same value, without end";
        SchemaFault::new(SchemaErrorKind::InvalidSchema, graph.pointer(id), message)
    })
}

/// The schemas, each after the `others` of it, or one that comes after itself.
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

/// How deep a value may be.
///
/// A schema that is not recursive looks at so many levels and no more. One that is follows the value, and goes down the
/// stack with it; so does the comparison of items.
fn depth(graph: &Graph<'_>, order: &[usize]) -> Result<usize, SchemaFault> {
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
        let message = format!("more than {most} schemas refer to or join one another in a row, for one value");
        return Err(SchemaFault::new(SchemaErrorKind::TooComplex, "", message));
    }
    Ok(levels.min(MAX_DEPTH))
}

/// The most schemas in a row.
fn longest(graph: &Graph<'_>, order: &[usize], others: impl Fn(&Node<'_>) -> Vec<usize>) -> usize {
    let mut lengths = vec![1; graph.nodes.len()];
    for &id in order {
        lengths[id] += others(&graph.nodes[id]).into_iter().map(|other| lengths[other]).max().unwrap_or_default();
    }
    lengths.into_iter().max().unwrap_or(1)
}
