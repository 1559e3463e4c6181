//! The role of each keyword in a plan.

use serde_json::{Map, Value};

use super::Compiler;

/// The role of a keyword in a plan.
#[derive(PartialEq, Eq)]
enum Role {
    /// Does not affect validity.
    Annotation,
    /// Can be checked while the value is read or written.
    Checked,
    /// Needs the whole value, or changes the meaning of other keywords.
    Unsupported,
}

/// Returns the role of a keyword. Unknown keywords are annotations, as the standard requires.
fn role(keyword: &str) -> Role {
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

/// Returns true if a keyword does not affect validity.
pub(crate) fn is_annotation(keyword: &str) -> bool {
    role(keyword) == Role::Annotation
}

impl<'s> Compiler<'s> {
    /// Returns the keywords that assert something, or `None` if one of them is not supported.
    pub(super) fn asserting(&self, keywords: &'s Map<String, Value>) -> Option<Vec<(&'s str, &'s Value)>> {
        let mut asserting = Vec::new();
        for (keyword, value) in keywords {
            // `$schema` is allowed at the root, where it has been checked.
            if keyword == "$schema" && self.root.as_object().is_some_and(|root| std::ptr::eq(root, keywords)) {
                continue;
            }
            // Draft-07 does not define this keyword.
            let differs = keyword == "prefixItems";
            match role(keyword) {
                _ if differs && self.is_draft_07 => return self.or_record_obstacle(keywords, keyword, None),
                Role::Annotation => {}
                Role::Checked => asserting.push((keyword.as_str(), value)),
                Role::Unsupported => return self.or_record_obstacle(keywords, keyword, None),
            }
        }
        Some(asserting)
    }

    /// Returns the only keyword that asserts something, or `Some(None)` unless there is exactly one.
    pub(super) fn only_keyword(&self, keywords: &'s Map<String, Value>) -> Option<Option<(&'s str, &'s Value)>> {
        let asserting = self.asserting(keywords)?;
        Some(match *asserting.as_slice() {
            [only] => Some(only),
            _ => None,
        })
    }
}
