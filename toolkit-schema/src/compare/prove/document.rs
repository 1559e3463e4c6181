//! Schema documents and the schemas in them.

use serde_json::{Map, Value};

use crate::Dialect;
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
pub(super) struct Node<'s> {
    pub(super) schema: &'s Value,
    pub(super) document: usize,
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

impl<'s> Node<'s> {
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
