//! Named types, shared by all tools of a text.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::js_names::identifier;
use super::ty::{Node, Type};

/// The maximum number of nested types of a type that replaces its name. It bounds the depth of all types.
const MAX_HEIGHT: usize = 16;

/// Types with names. Equal types of several tools have one name.
#[derive(Default)]
pub(super) struct NamedTypes {
    types: BTreeMap<String, Node>,
    /// The names in the order in which they were added, which is after the names that they refer to.
    order: Vec<String>,
    /// The names of types that refer to themselves.
    recursive: BTreeSet<String>,
    /// The name of each type that can be shared, by the name that its schema gives it.
    shared: HashMap<(String, Node), String>,
    /// The last number of each name.
    numbers: HashMap<String, usize>,
}

impl NamedTypes {
    /// Adds the definitions that `root` refers to, and replaces their references by names.
    pub(super) fn add(&mut self, definitions: BTreeMap<String, (String, Node)>, root: &mut Node) {
        let (order, recursive) = order(&definitions);
        let mut names: HashMap<String, String> = HashMap::new();
        for reference in &order {
            let (base, node) = &definitions[reference];
            let mut node = node.clone();
            let mut others = BTreeSet::new();
            node.each_name(&mut |to| {
                others.extend((to != reference && !names.contains_key(to)).then(|| to.to_owned()));
            });
            let is_shared = others.is_empty() && !names.contains_key(reference);
            for other in others {
                let name = self.free_name(&definitions[&other].0);
                names.insert(other, name);
            }
            node.rename(&|to| if to == reference { Some(String::new()) } else { names.get(to).cloned() });
            let key = (base.clone(), node.clone());
            if is_shared && let Some(name) = self.shared.get(&key) {
                names.insert(reference.clone(), name.clone());
                continue;
            }
            let name = names.get(reference).cloned().unwrap_or_else(|| self.free_name(base));
            node.rename(&|to| to.is_empty().then(|| name.clone()));
            if recursive.contains(reference) {
                self.recursive.insert(name.clone());
            }
            if is_shared {
                self.shared.insert(key, name.clone());
            }
            self.order.push(name.clone());
            self.types.insert(name.clone(), node);
            names.insert(reference.clone(), name);
        }
        root.rename(&|to| names.get(to).cloned());
    }

    /// Returns a name that no other type has.
    fn free_name(&mut self, base: &str) -> String {
        let base = type_name(base);
        let mut name = base.clone();
        loop {
            let number = self.numbers.entry(base.clone()).or_insert(0);
            *number += 1;
            if *number > 1 {
                name = format!("{base}{number}");
            }
            // A type may be called `Filter2` by its schema.
            if name == base || !self.numbers.contains_key(&name) {
                self.numbers.entry(name.clone()).or_insert(1);
                return name;
            }
        }
    }

    /// Replaces names by their types where that makes the text shorter.
    pub(super) fn inline<'n>(&mut self, roots: impl IntoIterator<Item = &'n mut Node>) {
        let mut roots: Vec<&mut Node> = roots.into_iter().collect();
        let mut uses: HashMap<String, usize> = HashMap::new();
        for node in self.types.values().chain(roots.iter().map(|root| &**root)) {
            node.each_name(&mut |name| *uses.entry(name.to_owned()).or_default() += 1);
        }
        let mut inlined: HashMap<String, Node> = HashMap::new();
        for name in &self.order {
            let Some(node) = self.types.get_mut(name) else { continue };
            replace(node, &inlined);
            let is_short = uses.get(name) == Some(&1) || is_small(&node.ty);
            if is_short && !self.recursive.contains(name) && node.height() <= MAX_HEIGHT {
                inlined.extend(self.types.remove(name).map(|node| (name.clone(), node)));
            }
        }
        // A recursive type may refer to one that was added after it.
        for node in self.types.values_mut().chain(roots.iter_mut().map(|root| &mut **root)) {
            replace(node, &inlined);
        }
    }

    /// Returns the type with a name.
    pub(super) fn get(&self, name: &str) -> Option<&Node> {
        self.types.get(name)
    }

    /// Returns all names and types, sorted by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.types.iter().map(|(name, node)| (name.as_str(), node))
    }
}

/// A definition whose references are followed.
struct Frame<'d> {
    reference: &'d str,
    /// The references that remain to be followed.
    rest: Vec<&'d str>,
    /// The lowest position on the path that a reference from here leads back to.
    low: usize,
}

/// Returns the references to definitions, each after those that it refers to, and those that lead back to themselves.
fn order(definitions: &BTreeMap<String, (String, Node)>) -> (Vec<String>, BTreeSet<String>) {
    let frame = |reference| {
        let mut rest = Vec::new();
        if let Some((_, node)) = definitions.get(reference) {
            node.each_name(&mut |name| rest.push(name));
        }
        Frame { reference, rest, low: usize::MAX }
    };
    let (mut order, mut recursive) = (Vec::new(), BTreeSet::new());
    // The position on the path; `None` for a definition that is done.
    let mut positions: HashMap<&str, Option<usize>> = HashMap::new();
    for start in definitions.keys() {
        if positions.contains_key(start.as_str()) {
            continue;
        }
        positions.insert(start, Some(0));
        let mut path = vec![frame(start)];
        while let Some(last) = path.last_mut() {
            match last.rest.pop().map(|to| (to, positions.get(to).copied())) {
                Some((_, Some(Some(position)))) => last.low = last.low.min(position),
                Some((_, Some(None))) => {}
                Some((to, None)) => {
                    positions.insert(to, Some(path.len()));
                    path.push(frame(to));
                }
                None => {
                    let (reference, low) = (last.reference, last.low);
                    path.pop();
                    let position = path.len();
                    if low <= position {
                        recursive.insert(reference.to_owned());
                    }
                    if let Some(parent) = path.last_mut().filter(|_| low < position) {
                        parent.low = parent.low.min(low);
                    }
                    positions.insert(reference, None);
                    order.push(reference.to_owned());
                }
            }
        }
    }
    (order, recursive)
}

/// Replaces the names of inlined types.
fn replace(node: &mut Node, inlined: &HashMap<String, Node>) {
    if let Type::Name(name) = &node.ty {
        // The inlined type contains no inlined name.
        if let Some(found) = inlined.get(name) {
            let comment = std::mem::take(&mut node.comment);
            *node = found.clone().described(comment);
        }
        return;
    }
    node.each_mut(|part| replace(part, inlined));
    let ty = std::mem::replace(&mut node.ty, Type::Unknown);
    // An inlined union may be part of a union.
    let simpler = match ty {
        Type::Union(members) => Node::union(members),
        Type::Intersection(members) => Node::intersection(members),
        ty => ty.into(),
    };
    *node = simpler.described(std::mem::take(&mut node.comment));
}

/// Returns true for a type that is about as short as a name.
fn is_small(ty: &Type) -> bool {
    match ty {
        Type::Unknown | Type::Never | Type::Primitive(_) => true,
        Type::Literal(text) => text.len() <= 16,
        Type::Array(item) => matches!(item.ty, Type::Unknown | Type::Primitive(_)),
        Type::Union(members) => {
            members.len() <= 2 && members.iter().all(|member| matches!(member.ty, Type::Primitive(_)))
        }
        _ => false,
    }
}

/// Returns the name of a type. The first letter is a capital, as that of no keyword is.
fn type_name(base: &str) -> String {
    let name = identifier(base);
    let mut name = name.trim_start_matches('_').to_owned();
    if let Some(first) = name.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    match name.as_str() {
        // The types of the language that the text uses.
        "Promise" | "Record" | "Array" => format!("{name}_"),
        _ if name.starts_with(|c: char| c.is_ascii_uppercase()) => name,
        _ => format!("T{name}"),
    }
}
