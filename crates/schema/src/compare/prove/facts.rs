//! Schema documents, the schemas in them, and facts about a value.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::dialect::Dialect;
use crate::types::Types;
use crate::walk;

/// A document, which determines the meaning of `#` and of keywords.
#[derive(Clone, Copy)]
pub(in crate::compare) struct Document<'s> {
    pub(super) root: &'s Value,
    pub(super) dialect: Dialect,
    /// True if its schemas are referenced only by JSON Pointers.
    pub(super) is_tractable: bool,
}

/// A schema within a document.
#[derive(Clone, Copy)]
pub(super) struct DocumentNode<'s> {
    pub(super) schema: &'s Value,
    pub(super) document: usize,
}

/// A keyword of a schema with its value, which a proof is about.
#[derive(Clone, Copy)]
pub(super) struct KeywordGoal<'s> {
    pub(super) node: DocumentNode<'s>,
    pub(super) keyword: &'s str,
    pub(super) value: &'s Value,
}

impl<'s> Document<'s> {
    pub(in crate::compare) fn new(root: &'s Value, dialect: Dialect) -> Self {
        Self { root, dialect, is_tractable: walk::is_tractable(root) }
    }

    /// Returns the keywords of a schema that assert something. In draft-07, a `$ref` hides the keywords beside it.
    pub(super) fn asserting(
        self,
        keywords: &'s Map<String, Value>,
    ) -> impl Iterator<Item = (&'s str, &'s Value)> + use<'s> {
        let dialect = self.dialect;
        let only_reference = dialect == Dialect::Draft7 && keywords.get("$ref").is_some_and(Value::is_string);
        let asserting = keywords.iter().map(|(keyword, value)| (keyword.as_str(), value));
        asserting.filter(move |(keyword, _)| match only_reference {
            true => *keyword == "$ref",
            false => asserts(dialect, keyword),
        })
    }

    /// Resolves a reference. Returns `None` if it does not point to a schema of the document.
    pub(super) fn resolve(self, reference: &str) -> Option<&'s Value> {
        walk::resolve(self.root, reference)
    }
}

impl<'s> DocumentNode<'s> {
    /// Returns another schema of the same document.
    pub(super) fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    /// Returns the value of a keyword, if the schema is an object.
    pub(super) fn get(self, keyword: &str) -> Option<&'s Value> {
        self.schema.as_object()?.get(keyword)
    }

    pub(super) fn object(self, keyword: &str) -> impl Iterator<Item = (&'s str, &'s Value)> + use<'s> {
        let object = self.get(keyword).and_then(Value::as_object).into_iter().flatten();
        object.map(|(key, value)| (key.as_str(), value))
    }

    pub(super) fn array(self, keyword: &str) -> &'s [Value] {
        self.get(keyword).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }
}

/// Returns true if the keyword affects which values are accepted. All others are annotations.
fn asserts(dialect: Dialect, keyword: &str) -> bool {
    match keyword {
        "$ref"
        | "type"
        | "enum"
        | "const"
        | "multipleOf"
        | "maximum"
        | "exclusiveMaximum"
        | "minimum"
        | "exclusiveMinimum"
        | "maxLength"
        | "minLength"
        | "pattern"
        | "items"
        | "maxItems"
        | "minItems"
        | "uniqueItems"
        | "contains"
        | "maxProperties"
        | "minProperties"
        | "required"
        | "properties"
        | "patternProperties"
        | "additionalProperties"
        | "dependencies"
        | "propertyNames"
        | "if"
        | "then"
        | "else"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "not" => true,
        "additionalItems" => dialect == Dialect::Draft7,
        "prefixItems"
        | "minContains"
        | "maxContains"
        | "dependentRequired"
        | "dependentSchemas"
        | "unevaluatedItems"
        | "unevaluatedProperties"
        | "$dynamicRef" => dialect == Dialect::Draft202012,
        _ => false,
    }
}

/// Facts about the value at one location. All of them hold.
#[derive(Clone)]
pub(super) struct Facts<'s> {
    /// The schemas that accept the value, with references and `allOf` expanded.
    pub(super) schemas: Vec<DocumentNode<'s>>,
    /// The schemas that reject the value.
    pub(super) refuting: Vec<DocumentNode<'s>>,
    /// Choices, of each of which at least one case holds.
    pub(super) choices: Vec<Rc<[Case<'s>]>>,
    pub(super) types: Types,
    /// If present, the value is one of these.
    pub(super) values: Option<Vec<Cow<'s, Value>>>,
    /// If the value is an object, it has these keys.
    pub(super) required: BTreeSet<&'s str>,
    /// If the value is an object, it has none of these keys.
    pub(super) absent: BTreeSet<&'s str>,
    /// If the value is a string, it matches these patterns.
    pub(super) patterns: Vec<&'s str>,
    /// True if no value satisfies the facts.
    pub(super) is_contradictory: bool,
    /// The schemas that were assumed to hold or to fail, if the facts consist of nothing else.
    origin: Option<Vec<usize>>,
}

/// A case of a choice.
#[derive(Clone)]
pub(super) enum Case<'s> {
    Holds(DocumentNode<'s>),
    Fails(DocumentNode<'s>),
    /// The branch at this index holds, and all others fail.
    Only(DocumentNode<'s>, &'s [Value], usize),
    All(Vec<Case<'s>>),
    Type(Types),
    Value(Cow<'s, Value>),
    Has(&'s str),
    Lacks(&'s str),
    Matches(&'s str),
}

/// The key of a cached result: facts and a goal.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct ProofKey {
    pub(super) facts: Vec<usize>,
    goal: usize,
}

impl<'s> Facts<'s> {
    /// Returns the facts about an arbitrary value.
    pub(super) fn any() -> Self {
        Self {
            schemas: Vec::new(),
            refuting: Vec::new(),
            choices: Vec::new(),
            types: Types::ALL,
            values: None,
            required: BTreeSet::new(),
            absent: BTreeSet::new(),
            patterns: Vec::new(),
            is_contradictory: false,
            origin: Some(Vec::new()),
        }
    }

    /// Returns the cost of a clone in steps.
    pub(super) fn size(&self) -> u64 {
        let lists = self.schemas.len() + self.refuting.len() + self.choices.len() + self.patterns.len();
        let sets = self.required.len() + self.absent.len() + self.values.as_ref().map_or(0, Vec::len);
        1 + (lists + sets) as u64
    }

    /// Records that a schema was assumed to hold or to fail.
    pub(super) fn note_origin(&mut self, schema: &Value, holds: bool) {
        // Schemas have even addresses.
        let address = std::ptr::from_ref(schema).addr();
        if let Some(origin) = &mut self.origin {
            origin.push(if holds { address } else { address | 1 });
        }
    }

    /// Records that something other than a schema was assumed.
    pub(super) fn forget_origin(&mut self) {
        self.origin = None;
    }

    /// Returns a key for these facts and a goal, if only schemas were assumed.
    pub(super) fn key(&self, goal: &Value) -> Option<ProofKey> {
        let mut facts = self.origin.clone()?;
        facts.sort_unstable();
        facts.dedup();
        Some(ProofKey { facts, goal: std::ptr::from_ref(goal).addr() })
    }

    /// Returns the only value that the facts allow, if there is one.
    pub(super) fn value(&self) -> Option<&Value> {
        match self.values.as_deref() {
            Some([value]) => Some(value),
            _ => None,
        }
    }
}
