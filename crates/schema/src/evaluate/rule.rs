//! The keywords that are evaluated, in the order in which their failures are reported.

use serde_json::{Map, Value};

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

// The order of `jsonschema`: first what is cheap, last what leads to other schemas.
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
    Pattern "pattern"
    UniqueItems "uniqueItems"
    Properties "properties"
    AdditionalProperties "additionalProperties"
    Items "items"
    PrefixItems "prefixItems"
    AllOf "allOf"
    AnyOf "anyOf"
    OneOf "oneOf"
    Ref "$ref"
}

/// The keywords of a schema in order, with their values.
pub(super) struct Rules<'v> {
    values: [Option<&'v Value>; Rule::ALL.len()],
    /// A bit for each keyword that is left.
    left: u32,
}

impl<'v> Rules<'v> {
    #[inline]
    pub(super) fn new(keywords: &'v Map<String, Value>) -> Self {
        let mut rules = Self { values: [None; Rule::ALL.len()], left: 0 };
        for (keyword, value) in keywords {
            if let Some(rule) = Rule::named(keyword) {
                rules.values[rule as usize] = Some(value);
                rules.left |= 1 << rule as u32;
            }
        }
        rules
    }

    /// Returns true if a keyword is left.
    pub(super) fn has(&self, rule: Rule) -> bool {
        self.left & (1 << rule as u32) != 0
    }

    /// Returns the next keyword.
    #[inline]
    pub(super) fn next(&mut self) -> Option<(Rule, &'v Value)> {
        let idx = self.left.trailing_zeros() as usize;
        self.left &= self.left.wrapping_sub(1);
        Some((*Rule::ALL.get(idx)?, (*self.values.get(idx)?)?))
    }
}
