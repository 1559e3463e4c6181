//! A schema of a document, and the schemas that it applies to the same value and to the values inside.

use serde_json::Value;

use super::super::reference::Base;
use super::super::walk::Token;

/// A single schema.
pub(in super::super) struct Node<'s> {
    pub(super) schema: &'s Value,
    pub(super) place: Place<'s>,
    pub(super) base: Base,
    /// The schemas that apply to the same value, and the branches of choices that a tag determines.
    pub(in super::super) in_place: Vec<usize>,
    pub(in super::super) tagged: Vec<Vec<usize>>,
    /// The schemas for the values inside: by key or index, and for the others.
    pub(in super::super) named: Vec<(Label<'s>, usize)>,
    pub(in super::super) other_keys: Vec<usize>,
    pub(in super::super) every_key: Vec<usize>,
    pub(in super::super) other_items: Vec<usize>,
    pub(in super::super) every_item: Vec<usize>,
    /// True if the schema depends on which of the values inside were evaluated by adjacent schemas.
    pub(in super::super) unevaluated: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in super::super) enum Label<'s> {
    Key(&'s str),
    Index(usize),
}

/// The location of a schema, from which its pointer is built.
pub(super) enum Place<'s> {
    Root,
    Below(usize, &'s str, Token<'s>),
    /// The target of a reference, outside of all schema keywords.
    At(&'s str),
}

impl<'s> Node<'s> {
    pub(super) fn new(schema: &'s Value, place: Place<'s>, base: Base) -> Self {
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
    pub(in super::super) fn beside(&self) -> impl Iterator<Item = usize> {
        self.in_place.iter().chain(self.tagged.iter().flatten()).copied()
    }

    /// Returns the schemas that apply to the values inside.
    pub(in super::super) fn below(&self) -> impl Iterator<Item = usize> {
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
