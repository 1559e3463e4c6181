//! Definitions that are aliases of themselves, which TypeScript rejects.

use std::collections::BTreeMap;

use super::ty::{Comment, Node, Type};

/// Replaces the names by which a definition is an alias of itself, and returns the references to these definitions.
pub(super) fn remove_cycles(definitions: &mut BTreeMap<String, (String, Node)>) -> Vec<String> {
    let mut changed = Vec::new();
    let aliases = |node: &Node| {
        let mut names = Vec::new();
        each_alias(node, &mut |name| names.push(name.to_owned()));
        names
    };
    let edges: BTreeMap<String, Vec<String>> =
        definitions.iter().map(|(reference, (_, node))| (reference.clone(), aliases(node))).collect();
    let mut done: BTreeMap<&str, bool> = BTreeMap::new();
    for start in edges.keys() {
        // A definition is not done while its aliases are followed.
        let mut stack = vec![(start.as_str(), 0)];
        while let Some((reference, next)) = stack.pop() {
            if next == 0 && done.contains_key(reference) {
                continue;
            }
            done.insert(reference, false);
            let Some(alias) = edges.get(reference).and_then(|aliases| aliases.get(next)) else {
                done.insert(reference, true);
                continue;
            };
            stack.push((reference, next + 1));
            match done.get(alias.as_str()) {
                None => stack.push((alias, 0)),
                Some(true) => {}
                Some(false) => {
                    if let Some((_, node)) = definitions.get_mut(reference) {
                        remove_alias(node, alias);
                    }
                    changed.push(reference.to_owned());
                }
            }
        }
    }
    changed
}

/// Calls `visit` with each name that is not inside of an object or array.
fn each_alias<'n>(node: &'n Node, visit: &mut impl FnMut(&'n str)) {
    match &node.ty {
        Type::Name(name) => visit(name),
        Type::Union(members) | Type::Intersection(members) => {
            members.iter().for_each(|member| each_alias(member, visit));
        }
        _ => {}
    }
}

fn remove_alias(node: &mut Node, alias: &str) {
    let comment = std::mem::take(&mut node.comment);
    let ty = std::mem::replace(&mut node.ty, Type::Unknown);
    let without = |members: Vec<Node>| {
        members.into_iter().map(|mut member| {
            remove_alias(&mut member, alias);
            member
        })
    };
    *node = match ty {
        Type::Name(name) if name == alias => Type::Unknown.into(),
        Type::Union(members) => Node::union(without(members)),
        Type::Intersection(members) => Node::intersection(without(members)),
        ty => Node { ty, comment: Comment::default() },
    };
    node.comment = comment.with(std::mem::take(&mut node.comment));
}
