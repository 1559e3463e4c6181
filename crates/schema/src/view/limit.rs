//! Ranges, patterns and other limits of values.

use std::fmt;

use serde_json::Value;

use super::View;
use crate::width::is_width;

/// A limit of values, other than their types. Its text is a short phrase, such as `1 to 14` or `at most 9 items`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Limit<'s> {
    /// A range of a number, or of a size in units, such as `["item", "items"]`.
    Range {
        /// The minimum.
        least: Option<&'s Value>,
        /// The maximum.
        most: Option<&'s Value>,
        /// The singular and the plural of the unit.
        unit: Option<[&'static str; 2]>,
    },
    /// An exclusive minimum.
    MoreThan(&'s Value),
    /// An exclusive maximum.
    LessThan(&'s Value),
    /// A step.
    MultipleOf(&'s Value),
    /// A regular expression.
    Pattern(&'s str),
    /// A format, such as `date-time`.
    Format(&'s str),
    /// No item occurs twice.
    UniqueItems,
}

/// Returns the limits of the values.
pub(super) fn limits<'s>(view: &View<'s>) -> Vec<Limit<'s>> {
    let range = |least: &str, most: &str, unit: Option<[&'static str; 2]>| {
        let limit = |keyword: &str| view.get(keyword).filter(|limit| !is_width(limit));
        let (least, most) = (limit(least), limit(most));
        (least.is_some() || most.is_some()).then_some(Limit::Range { least, most, unit })
    };
    let text = |keyword: &str| view.get(keyword).and_then(Value::as_str);
    let limits = [
        range("minimum", "maximum", None),
        range("minLength", "maxLength", Some(["character", "characters"])),
        range("minItems", "maxItems", Some(["item", "items"])),
        range("minProperties", "maxProperties", Some(["entry", "entries"])),
        view.get("exclusiveMinimum").map(Limit::MoreThan),
        view.get("exclusiveMaximum").map(Limit::LessThan),
        view.get("multipleOf").map(Limit::MultipleOf),
        text("pattern").map(Limit::Pattern),
        text("format").filter(|format| !is_number_format(format)).map(Limit::Format),
        view.get("uniqueItems").filter(|unique| **unique == true).map(|_| Limit::UniqueItems),
    ];
    limits.into_iter().flatten().collect()
}

impl fmt::Display for Limit<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Range { least, most, unit } => {
                let counted = |limit: &Value| match unit {
                    None => limit.to_string(),
                    Some([one, many]) => format!("{limit} {}", if limit == 1 { one } else { many }),
                };
                match (least, most) {
                    (Some(least), Some(most)) if least == most => write!(f, "exactly {}", counted(least)),
                    (Some(least), Some(most)) => write!(f, "{least} to {}", counted(most)),
                    (Some(least), None) => write!(f, "at least {}", counted(least)),
                    (None, Some(most)) => write!(f, "at most {}", counted(most)),
                    (None, None) => Ok(()),
                }
            }
            Self::MoreThan(limit) => write!(f, "more than {limit}"),
            Self::LessThan(limit) => write!(f, "less than {limit}"),
            Self::MultipleOf(step) => write!(f, "a multiple of {step}"),
            Self::Pattern(pattern) => write!(f, "matches {pattern}"),
            Self::Format(format) => f.write_str(format),
            Self::UniqueItems => f.write_str("unique items"),
        }
    }
}

/// Returns true for formats that are types of numbers, such as `uint8` and `double`, and not textual formats.
pub fn is_number_format(format: &str) -> bool {
    let digits = format.strip_prefix("uint").or_else(|| format.strip_prefix("int"));
    matches!(format, "float" | "double")
        || digits.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))
}
