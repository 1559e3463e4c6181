//! The state of a conversion, the report of its losses, and the sentences that replace keywords.

use serde_json::Value;

use crate::dialect::{Dialect, Rule};
use crate::loss::{Effect, Loss, Side};
use toolkit_schema::merge::{Keywords, append};

/// The state of a conversion.
///
/// Each step returns `None` for a schema that accepts no value, if the dialect cannot express that. The surrounding
/// schema then expresses it, by rejecting a property or removing a branch.
pub(super) struct Lowering<'d> {
    pub(super) dialect: &'d Dialect,
    pub(super) side: Side,
    /// A nested `$id` changes the base of references, so that they cannot be resolved by their pointers.
    pub(super) is_opaque: bool,
    pub(super) n_lost_references: usize,
    pub(super) losses: Vec<Loss>,
}

impl Lowering<'_> {
    /// Records a loss.
    pub(super) fn report(&mut self, at: &str, keyword: &str, effect: Effect, reason: impl Into<String>) {
        let (side, pointer, keyword) = (self.side, at.to_owned(), keyword.to_owned());
        self.losses.push(Loss { side, pointer, keyword, effect, reason: reason.into() });
    }

    /// Returns true if the dialect has a rule.
    pub(super) fn requires(&self, rule: Rule) -> bool {
        self.dialect.requires(rule)
    }

    /// Returns true if the dialect supports recursive references.
    pub(super) fn follows_references(&self) -> bool {
        let restricts = self.dialect.keywords.is_some();
        self.dialect.reads("$ref") && !(self.is_opaque && restricts)
    }
}

/// Appends a sentence about `keyword` to the description; returns false if there is no sentence for it.
pub(super) fn describe(keywords: &mut Keywords, keyword: &str) -> bool {
    let Some(sentence) = keywords.get(keyword).and_then(|value| sentence(keyword, value)) else {
        return false;
    };
    append(keywords, &sentence);
    true
}

fn sentence(keyword: &str, value: &Value) -> Option<String> {
    Some(match keyword {
        "minimum" => format!("At least {value}."),
        "maximum" => format!("At most {value}."),
        "exclusiveMinimum" => format!("More than {value}."),
        "exclusiveMaximum" => format!("Less than {value}."),
        "multipleOf" => format!("A multiple of {value}."),
        "minLength" => format!("At least {}.", pluralized(value, "character")),
        "maxLength" => format!("At most {}.", pluralized(value, "character")),
        "minItems" => format!("At least {}.", pluralized(value, "item")),
        "maxItems" => format!("At most {}.", pluralized(value, "item")),
        "minProperties" => format!("At least {}.", pluralized(value, "property")),
        "maxProperties" => format!("At most {}.", pluralized(value, "property")),
        "uniqueItems" if *value == true => "Items are unique.".to_owned(),
        "pattern" => format!("Matches the pattern `{}`.", value.as_str()?),
        "format" => format!("Format: {}.", value.as_str()?),
        "default" => format!("Default: {value}."),
        "enum" => {
            let values: Vec<String> = value.as_array()?.iter().map(Value::to_string).collect();
            format!("One of {}.", values.join(", "))
        }
        _ => return None,
    })
}

fn pluralized(n: &Value, what: &str) -> String {
    match (n.as_f64() == Some(1.0), what) {
        (true, what) => format!("{n} {what}"),
        (false, "property") => format!("{n} properties"),
        (false, what) => format!("{n} {what}s"),
    }
}
