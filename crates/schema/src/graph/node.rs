//! A schema of a document, and the schemas that it applies to the same value and to the values inside.

use serde_json::Value;

use crate::reference::Base;
use crate::walk::Token;

/// A single schema.
pub(crate) struct SchemaNode<'s> {
    pub(super) schema: &'s Value,
    pub(super) place: SchemaPlace<'s>,
    pub(super) base: Base,
    /// The schemas that apply to the same value, and the branches of choices that a tag determines.
    pub(crate) in_place: Vec<usize>,
    pub(crate) tagged: Vec<Vec<usize>>,
    /// The schemas for the values inside: by key or index, and for the others.
    pub(crate) named: Vec<(Label<'s>, usize)>,
    pub(crate) other_keys: Vec<usize>,
    pub(crate) every_key: Vec<usize>,
    pub(crate) other_items: Vec<usize>,
    pub(crate) every_item: Vec<usize>,
    /// True if the schema depends on which of the values inside were evaluated by adjacent schemas.
    pub(crate) unevaluated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Label<'s> {
    Key(&'s str),
    Index(usize),
}

/// The location of a schema, from which its pointer is built.
pub(super) enum SchemaPlace<'s> {
    Root,
    Below(usize, &'s str, Token<'s>),
    /// The target of a reference, outside of all schema keywords.
    At(&'s str),
}

impl<'s> SchemaNode<'s> {
    pub(super) fn new(schema: &'s Value, place: SchemaPlace<'s>, base: Base) -> Self {
        Self {
            schema,
            place,
            base,
            in_place: Vec::new(),
            tagged: Vec::new(),
            named: Vec::new(),
            other_keys: Vec::new(),
            every_key: Vec::new(),
            other_items: Vec::new(),
            every_item: Vec::new(),
            unevaluated: false,
        }
    }

    /// Returns the schemas that apply to the same value.
    pub(crate) fn beside(&self) -> impl Iterator<Item = usize> {
        self.in_place.iter().chain(self.tagged.iter().flatten()).copied()
    }

    /// Returns the schemas that apply to the values inside.
    pub(crate) fn below(&self) -> impl Iterator<Item = usize> {
        let others = [&self.other_keys, &self.every_key, &self.other_items, &self.every_item];
        self.named.iter().map(|&(_, id)| id).chain(others.into_iter().flatten().copied())
    }

    /// Adds the subschema of a keyword.
    pub(super) fn connect(&mut self, keyword: &str, token: Token<'s>, sub: usize) {
        match (keyword, token) {
            ("$defs" | "definitions" | "contentSchema", _) => {}
            ("properties", Token::Name(name)) => self.named.push((Label::Key(name), sub)),
            ("prefixItems" | "items", Token::Index(idx)) => self.named.push((Label::Index(idx), sub)),
            ("items" | "additionalItems", _) => self.other_items.push(sub),
            ("additionalProperties", _) => self.other_keys.push(sub),
            ("patternProperties" | "propertyNames", _) => self.every_key.push(sub),
            ("contains", _) => self.every_item.push(sub),
            ("unevaluatedProperties", _) => {
                self.unevaluated = true;
                self.every_key.push(sub);
            }
            ("unevaluatedItems", _) => {
                self.unevaluated = true;
                self.every_item.push(sub);
            }
            _ => self.in_place.push(sub),
        }
    }
}

/// The maximum depth of a schema, counted in nested arrays and objects.
pub(in super::super) const MAX_DEPTH: usize = 127;

/// The maximum number of subschemas.
pub(in super::super) const MAX_SUBSCHEMAS: usize = 65_536;
