//! Types of TypeScript, as a tree, the levels of detail, and the removal of definitions that are aliases of
//! themselves.

use std::collections::{BTreeMap, HashSet};

/// A type of TypeScript.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Type {
    Unknown,
    Never,
    /// `string`, `number`, `boolean` or `null`.
    Primitive(&'static str),
    /// The text of a literal type.
    Literal(String),
    Array(Box<Node>),
    Tuple {
        items: Vec<Node>,
        /// The number of items that are not optional.
        n_required: usize,
        rest: Option<Box<Node>>,
    },
    Object {
        properties: Vec<Property>,
        /// The type of all properties, as an index signature.
        rest: Option<Box<Node>>,
    },
    Union(Vec<Node>),
    Intersection(Vec<Node>),
    /// A type that is declared under a name.
    Name(String),
}

/// A type with its comment.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) ty: Type,
    pub(super) comment: Comment,
}

/// A property of an object type.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Property {
    pub(super) name: String,
    pub(super) is_optional: bool,
    pub(super) node: Node,
}

/// A comment: what a type does not express, and the description of its author.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Comment {
    pub(super) notes: Vec<String>,
    pub(super) text: String,
}

impl Comment {
    pub(super) fn is_empty(&self) -> bool {
        self.notes.is_empty() && self.text.is_empty()
    }

    /// Adds the comment of a type that has the place of this one. Descriptions of this place take precedence.
    pub(super) fn with(mut self, inner: Self) -> Self {
        self.notes.extend(inner.notes);
        if self.text.is_empty() {
            self.text = inner.text;
        }
        self
    }
}

impl From<Type> for Node {
    fn from(ty: Type) -> Self {
        Self { ty, comment: Comment::default() }
    }
}

impl Node {
    /// Adds a comment from the outside.
    pub(super) fn described(self, comment: Comment) -> Self {
        Self { comment: comment.with(self.comment), ty: self.ty }
    }

    /// Creates the union of some types.
    pub(super) fn union(nodes: impl IntoIterator<Item = Self>) -> Self {
        let mut members = Vec::new();
        for node in nodes {
            match node.ty {
                Type::Never => {}
                Type::Unknown => return Type::Unknown.into(),
                Type::Union(nested) if node.comment.is_empty() => members.extend(nested),
                _ => members.push(node),
            }
        }
        let mut seen = HashSet::new();
        members.retain(|member| seen.insert(member.ty.clone()));
        // `null` is last, as in `string | null`.
        members.sort_by_key(|member| member.ty == Type::Primitive("null"));
        match members.len() {
            0 => Type::Never.into(),
            1 => members.remove(0),
            _ => Type::Union(members).into(),
        }
    }

    /// Creates the intersection of some types.
    pub(super) fn intersection(nodes: impl IntoIterator<Item = Self>) -> Self {
        let mut members: Vec<Self> = Vec::new();
        let mut comment = Comment::default();
        for node in nodes {
            match node.ty {
                Type::Never => return Type::Never.into(),
                // Every value has this type, so that only its comment matters.
                Type::Unknown => comment = comment.with(node.comment),
                Type::Intersection(nested) if node.comment.is_empty() => members.extend(nested),
                _ => members.push(node),
            }
        }
        let mut seen = HashSet::new();
        members.retain(|member| seen.insert(member.ty.clone()));
        let node = match members.len() {
            0 => Type::Unknown.into(),
            1 => members.remove(0),
            _ => Type::Intersection(members).into(),
        };
        node.described(comment)
    }

    /// Calls `visit` with each direct part.
    pub(super) fn each<'n>(&'n self, mut visit: impl FnMut(&'n Self)) {
        match &self.ty {
            Type::Array(item) => visit(item),
            Type::Tuple { items, rest, .. } => items.iter().chain(rest.as_deref()).for_each(visit),
            Type::Object { properties, rest } => {
                properties.iter().map(|property| &property.node).chain(rest.as_deref()).for_each(visit);
            }
            Type::Union(members) | Type::Intersection(members) => members.iter().for_each(visit),
            Type::Unknown | Type::Never | Type::Primitive(_) | Type::Literal(_) | Type::Name(_) => {}
        }
    }

    /// Calls `visit` with each direct part.
    pub(super) fn each_mut(&mut self, mut visit: impl FnMut(&mut Self)) {
        match &mut self.ty {
            Type::Array(item) => visit(item),
            Type::Tuple { items, rest, .. } => items.iter_mut().chain(rest.as_deref_mut()).for_each(visit),
            Type::Object { properties, rest } => {
                properties.iter_mut().map(|property| &mut property.node).chain(rest.as_deref_mut()).for_each(visit);
            }
            Type::Union(members) | Type::Intersection(members) => members.iter_mut().for_each(visit),
            Type::Unknown | Type::Never | Type::Primitive(_) | Type::Literal(_) | Type::Name(_) => {}
        }
    }

    /// Calls `visit` with each name in the type.
    pub(super) fn each_name<'n>(&'n self, visit: &mut impl FnMut(&'n str)) {
        if let Type::Name(name) = &self.ty {
            visit(name);
        }
        self.each(|part| part.each_name(visit));
    }

    /// Replaces each name in the type.
    pub(super) fn rename(&mut self, new: &impl Fn(&str) -> Option<String>) {
        if let Type::Name(name) = &mut self.ty
            && let Some(new) = new(name)
        {
            *name = new;
        }
        self.each_mut(|part| part.rename(new));
    }

    /// Returns the number of nested types.
    pub(super) fn height(&self) -> usize {
        let mut height = 0;
        self.each(|part| height = height.max(part.height()));
        height + 1
    }
}

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

/// The amount of documentation in a declaration.
///
/// ```
/// use serde_json::json;
/// use toolkit::{Catalog, Tool};
/// use toolkit_providers::typescript::{Detail, declarations};
///
/// let input = json!({ "type": "object", "properties": { "city": { "type": "string", "description": "Its name." } } });
/// let tool = Tool::builder("forecast").description("Forecasts the weather. Slow.").input(input).build()?;
/// let catalog = Catalog::new([tool])?;
/// let signature = "function forecast(args?: { city?: string }): Promise<unknown>";
/// assert!(declarations(&catalog, Detail::Signatures).text.contains(&format!("{signature}\n")));
/// assert!(declarations(&catalog, Detail::Compact).text.contains(&format!("{signature} // Forecasts the weather.\n")));
/// assert!(declarations(&catalog, Detail::Full).text.contains(" city?: string // Its name.\n"));
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Detail {
    /// All documentation, with each property on its own line.
    #[default]
    Full,
    /// The signature of a tool and the first sentence of its description, on one line.
    Compact,
    /// The signature of a tool on one line.
    Signatures,
}
