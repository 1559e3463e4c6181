//! The options with which `jsonschema` compiles patterns.

use jsonschema::{Keyword, PatternOptions, ValidationError, ValidationOptions};
use serde_json::{Map, Value};

use super::{Patterns, needs_backtracking};
use crate::dialect::Dialect;

/// The memory limit for the tables built while matching a pattern, in bytes.
const MAX_TABLE_BYTES: usize = 2 << 20;
/// The backtrack limit of a pattern with look-around or a back reference. Each step may scan the whole text again. The
/// second limit applies to values with much text.
const BACKTRACK_LIMIT: usize = 20_000;
const LOW_BACKTRACK_LIMIT: usize = 500;
/// The amount of text in a value, in bytes, above which the low backtrack limit applies.
pub(super) const MUCH_TEXT: usize = 8 << 10;

impl Patterns<'_> {
    /// Returns true if a pattern may need the backtracking engine.
    pub(crate) fn need_backtracking(&self) -> bool {
        self.all.iter().any(|pattern| needs_backtracking(pattern.text))
    }

    /// Returns the options of a validator with these patterns.
    pub(crate) fn options(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.options_with_limit(dialect, BACKTRACK_LIMIT)
    }

    /// Returns the options of a validator for values with much text.
    pub(crate) fn low_backtrack_limit(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.options_with_limit(dialect, LOW_BACKTRACK_LIMIT)
    }

    fn options_with_limit(&self, dialect: Dialect, backtrack_limit: usize) -> ValidationOptions<'static> {
        let bytes = self.max_bytes();
        let engine = PatternOptions::fancy_regex().backtrack_limit(backtrack_limit).size_limit(bytes);
        let engine = engine.dfa_size_limit(bytes.min(MAX_TABLE_BYTES));
        let options = jsonschema::options().with_draft(dialect.draft()).should_validate_formats(false);
        let options = options.offline().with_pattern_options(engine);
        match dialect {
            Dialect::Draft202012 => options,
            Dialect::Draft7 => options
                .with_keyword("contentEncoding", |_, _, _| Ok(Box::new(Annotation)))
                .with_keyword("contentMediaType", |_, _, _| Ok(Box::new(Annotation))),
        }
    }

    /// Returns true if a pattern compiles within the limits.
    pub(crate) fn compiles(&self, dialect: Dialect, text: &str) -> bool {
        let keys = Map::from_iter([(text.to_owned(), Value::Bool(true))]);
        self.options(dialect).build(&Map::from_iter([("patternProperties".to_owned(), keys.into())]).into()).is_ok()
    }
}

/// A keyword that accepts every value. `jsonschema` asserts the content keywords in draft-07 and treats them as
/// annotations in draft 2020-12. The contract of a tool must not depend on the dialect of its author's schema library.
struct Annotation;

impl<'i> Keyword<'i> for Annotation {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        true
    }
}

/// Returns the validator of a single pattern with a memory limit.
pub(super) fn validator(pattern: &str, max_bytes: usize) -> Option<jsonschema::Validator> {
    let engine = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT).size_limit(max_bytes);
    let options = jsonschema::options().offline().with_pattern_options(engine.dfa_size_limit(max_bytes));
    options.build(&serde_json::json!({ "pattern": pattern })).ok()
}

/// Returns true if the text of a value is so long that it needs the low backtrack limit.
pub(crate) fn has_much_text(instance: &Value) -> bool {
    fn exceeds(value: &Value, left: &mut Option<usize>) -> bool {
        let mut spend = |text: &str| {
            *left = left.and_then(|left| left.checked_sub(text.len()));
            left.is_none()
        };
        match value {
            Value::String(text) => spend(text),
            Value::Array(items) => items.iter().any(|item| exceeds(item, left)),
            Value::Object(object) => {
                object.keys().any(|key| spend(key)) || object.values().any(|value| exceeds(value, left))
            }
            _ => false,
        }
    }
    exceeds(instance, &mut Some(MUCH_TEXT))
}
