//! The keywords that are evaluated, in the order in which their failures are reported, and what is supported of them.

use serde_json::{Map, Value};

use crate::plan::{Pattern, is_annotation};
use crate::walk;

macro_rules! rules {
    ($($rule:ident $keyword:literal)*) => {
        /// A keyword that restricts a value.
        #[derive(Clone, Copy, PartialEq, Eq)]
        pub(super) enum Rule {
            $($rule,)*
        }

        impl Rule {
            const ALL: &[Self] = &[$(Self::$rule,)*];

            fn named(keyword: &str) -> Option<Self> {
                match keyword {
                    $($keyword => Some(Self::$rule),)*
                    _ => None,
                }
            }

            pub(super) fn keyword(self) -> &'static str {
                match self {
                    $(Self::$rule => $keyword,)*
                }
            }
        }
    };
}

// The order of `jsonschema`: first what is cheap, last what leads to other schemas. What is unevaluated is known at the end.
rules! {
    Type "type"
    Const "const"
    Enum "enum"
    Minimum "minimum"
    Maximum "maximum"
    ExclusiveMinimum "exclusiveMinimum"
    ExclusiveMaximum "exclusiveMaximum"
    MultipleOf "multipleOf"
    MinLength "minLength"
    MaxLength "maxLength"
    MinItems "minItems"
    MaxItems "maxItems"
    MinProperties "minProperties"
    MaxProperties "maxProperties"
    Required "required"
    DependentRequired "dependentRequired"
    Pattern "pattern"
    UniqueItems "uniqueItems"
    Properties "properties"
    PatternProperties "patternProperties"
    AdditionalProperties "additionalProperties"
    PropertyNames "propertyNames"
    Items "items"
    PrefixItems "prefixItems"
    Contains "contains"
    DependentSchemas "dependentSchemas"
    AllOf "allOf"
    AnyOf "anyOf"
    OneOf "oneOf"
    Not "not"
    If "if"
    Ref "$ref"
    UnevaluatedProperties "unevaluatedProperties"
    UnevaluatedItems "unevaluatedItems"
}

/// The keywords of a schema in order, with their values.
pub(super) struct Rules<'v> {
    values: [Option<&'v Value>; Rule::ALL.len()],
    /// A bit for each keyword that is left.
    left: u64,
}

impl<'v> Rules<'v> {
    #[inline]
    pub(super) fn new(keywords: &'v Map<String, Value>) -> Self {
        let mut rules = Self { values: [None; Rule::ALL.len()], left: 0 };
        for (keyword, value) in keywords {
            if let Some(rule) = Rule::named(keyword) {
                rules.values[rule as usize] = Some(value);
                rules.left |= 1_u64 << rule as u32;
            }
        }
        rules
    }

    /// Returns true if a keyword is left.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.left & (1_u64 << rule as u32) != 0
    }

    /// Returns the next keyword.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Rule, &'v Value)> {
        let idx = self.left.trailing_zeros() as usize;
        self.left &= self.left.wrapping_sub(1);
        Some((*Rule::ALL.get(idx)?, (*self.values.get(idx)?)?))
    }
}

/// Returns true if the evaluator supports a keyword of draft 2020-12 with this value, in a document.
pub(crate) fn supports(root: &Value, keyword: &str, value: &Value) -> bool {
    match Rule::named(keyword) {
        None => match keyword {
            "$schema" | "then" | "else" => true,
            "minContains" | "maxContains" => value.is_u64(),
            _ => is_annotation(keyword),
        },
        Some(Rule::Pattern) => value.as_str().is_some_and(Pattern::is_supported),
        Some(Rule::PatternProperties) => {
            value.as_object().is_some_and(|schemas| schemas.keys().all(|text| Pattern::is_supported(text)))
        }
        Some(Rule::MultipleOf) => value.is_number(),
        Some(Rule::Ref) => value.as_str().is_some_and(|text| walk::resolve(root, text).is_some()),
        Some(
            Rule::MinLength
            | Rule::MaxLength
            | Rule::MinItems
            | Rule::MaxItems
            | Rule::MinProperties
            | Rule::MaxProperties,
        ) => value.is_u64(),
        Some(_) => true,
    }
}

/// Returns true if only `jsonschema` can evaluate a keyword of draft 2020-12 with this value, which is valid.
pub(crate) fn needs_library(keyword: &str, value: &Value) -> bool {
    let is_unsupported = |text: &str| !Pattern::is_supported(text);
    match Rule::named(keyword) {
        None => !is_annotation(keyword) && keyword.starts_with('$') && keyword != "$schema",
        Some(Rule::Pattern) => value.as_str().is_some_and(is_unsupported),
        Some(Rule::PatternProperties) => {
            value.as_object().is_some_and(|all| all.keys().any(|text| is_unsupported(text)))
        }
        Some(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{needs_library, supports};

    #[test]
    fn a_keyword_is_supported_or_needs_the_library() {
        let root = json!({ "$defs": { "A": {} } });
        for (keyword, value, is_supported, is_needed) in [
            ("type", json!("string"), true, false),
            ("title", json!(1), true, false),
            ("$comment", json!("a"), true, false),
            ("$schema", json!("a"), true, false),
            ("then", json!({}), true, false),
            ("else", json!({}), true, false),
            ("minContains", json!(1), true, false),
            ("maxContains", json!(-1), false, false),
            ("minLength", json!(1), true, false),
            ("maxItems", json!(1.5), false, false),
            ("multipleOf", json!(0.5), true, false),
            ("multipleOf", json!("a"), false, false),
            ("pattern", json!("^a$"), true, false),
            ("pattern", json!("(?=a)"), false, true),
            ("pattern", json!(1), false, false),
            ("patternProperties", json!({ "^a": {}, "b": {} }), true, false),
            ("patternProperties", json!({ "^a": {}, "(?=b)": {} }), false, true),
            ("$ref", json!("#/$defs/A"), true, false),
            ("$ref", json!("#/$defs/B"), false, false),
            ("$dynamicRef", json!("#a"), false, true),
            // A keyword that no draft has says nothing.
            ("other", json!(1), true, false),
        ] {
            assert_eq!(supports(&root, keyword, &value), is_supported, "{keyword} {value}");
            assert_eq!(needs_library(keyword, &value), is_needed, "{keyword} {value}");
        }
    }
}
