//! Circles of imports.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hash;

/// Returns the strongly connected components with more than one member, in order.
pub fn circles<T: Ord + Clone + Hash>(graph: &BTreeMap<T, BTreeSet<T>>) -> Vec<BTreeSet<T>> {
    let reached: BTreeMap<&T, BTreeSet<&T>> = graph.keys().map(|from| (from, reach(graph, from))).collect();
    let mut circles: BTreeSet<BTreeSet<T>> = BTreeSet::new();
    for (from, to) in &reached {
        let circle = to.iter().filter(|to| reached.get(*to).is_some_and(|back| back.contains(from)));
        let circle: BTreeSet<T> = circle.map(|&member| member.clone()).collect();
        if circle.len() > 1 {
            circles.insert(circle);
        }
    }
    circles.into_iter().collect()
}

/// Returns everything that can be reached in one step or more.
fn reach<'g, T: Ord>(graph: &'g BTreeMap<T, BTreeSet<T>>, from: &T) -> BTreeSet<&'g T> {
    let mut reached = BTreeSet::new();
    let mut open: Vec<&T> = graph[from].iter().collect();
    while let Some(next) = open.pop() {
        if reached.insert(next) {
            open.extend(graph.get(next).into_iter().flatten());
        }
    }
    reached
}
