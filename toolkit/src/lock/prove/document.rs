//! A schema document and the places in it.

use serde_json::{Map, Value};

use crate::schema::Dialect;
use crate::schema::walk;

/// A document, which decides what `#` means and what a keyword does.
#[derive(Clone, Copy)]
pub(in crate::lock) struct Document<'s> {
    pub(super) root: &'s Value,
    pub(super) dialect: Dialect,
    /// True if it names its schemas by JSON Pointers only.
    pub(super) is_tractable: bool,
}

/// A schema within a document.
#[derive(Clone, Copy)]
pub(super) struct Node<'s> {
    pub(super) schema: &'s Value,
    pub(super) document: usize,
}

impl<'s> Document<'s> {
    pub(in crate::lock) fn new(root: &'s Value, dialect: Dialect) -> Self {
        Self { root, dialect, is_tractable: walk::is_tractable(root) }
    }

    /// Returns the keywords of a schema that count: in draft-07, a reference hides what stands beside it.
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

    /// The target of a reference; `None` if it is none of the document's own schemas.
    pub(super) fn resolve(self, reference: &str) -> Option<&'s Value> {
        walk::resolve(self.root, reference)
    }
}

impl<'s> Node<'s> {
    /// A schema below this one, in the same document.
    pub(super) fn at(self, schema: &'s Value) -> Self {
        Self { schema, ..self }
    }

    /// A keyword of a schema that has keywords.
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

/// Returns true if values are accepted or refused for the keyword. Every other keyword is an annotation.
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
