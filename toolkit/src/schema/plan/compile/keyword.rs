//! Which keywords assert something, and which of those a plan can check.

use serde_json::{Map, Value};

use super::Compiler;

/// What a keyword is to a plan.
#[derive(PartialEq, Eq)]
pub(super) enum Role {
    /// Says nothing about validity.
    Annotation,
    /// Can be checked while the value goes by.
    Checked,
    /// Needs the whole value, or changes what other keywords mean.
    Unsupported,
}

/// The role of a keyword. What the standard does not know is an annotation, as the standard says.
pub(super) fn role(keyword: &str) -> Role {
    match keyword {
        "$comment" | "$defs" | "definitions" | "title" | "description" | "default" | "examples" | "format"
        | "deprecated" | "readOnly" | "writeOnly" | "contentEncoding" | "contentMediaType" | "contentSchema" => {
            Role::Annotation
        }
        "$ref"
        | "allOf"
        | "anyOf"
        | "oneOf"
        | "type"
        | "enum"
        | "const"
        | "minimum"
        | "maximum"
        | "exclusiveMinimum"
        | "exclusiveMaximum"
        | "multipleOf"
        | "minLength"
        | "maxLength"
        | "pattern"
        | "properties"
        | "required"
        | "additionalProperties"
        | "minProperties"
        | "maxProperties"
        | "items"
        | "prefixItems"
        | "minItems"
        | "maxItems"
        | "uniqueItems" => Role::Checked,
        "id"
        | "not"
        | "if"
        | "then"
        | "else"
        | "dependentRequired"
        | "dependentSchemas"
        | "dependencies"
        | "patternProperties"
        | "propertyNames"
        | "unevaluatedProperties"
        | "unevaluatedItems"
        | "additionalItems"
        | "contains"
        | "minContains"
        | "maxContains" => Role::Unsupported,
        other if other.starts_with('$') => Role::Unsupported,
        _ => Role::Annotation,
    }
}

impl<'s> Compiler<'s> {
    /// The keywords that assert something, or `None` where one of them can't be checked.
    pub(super) fn asserting(&self, keywords: &'s Map<String, Value>) -> Option<Vec<(&'s str, &'s Value)>> {
        let mut asserting = Vec::new();
        for (keyword, value) in keywords {
            // The dialect is named, and has been checked, at the root alone.
            if keyword == "$schema" && self.root.as_object().is_some_and(|root| std::ptr::eq(root, keywords)) {
                continue;
            }
            // Unknown to the older dialect.
            let differs = keyword == "prefixItems";
            match role(keyword) {
                _ if differs && self.is_draft_07 => return self.or_blame(keywords, keyword, None),
                Role::Annotation => {}
                Role::Checked => asserting.push((keyword.as_str(), value)),
                Role::Unsupported => return self.or_blame(keywords, keyword, None),
            }
        }
        Some(asserting)
    }

    /// The one keyword that asserts something, if there is exactly one.
    pub(super) fn only_keyword(&self, keywords: &'s Map<String, Value>) -> Option<Option<(&'s str, &'s Value)>> {
        let asserting = self.asserting(keywords)?;
        Some(match *asserting.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }
}
