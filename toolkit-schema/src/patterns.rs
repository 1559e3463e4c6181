//! The limits for compiling and matching the patterns of a schema.

use std::collections::HashMap;

use jsonschema::{Keyword, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::error::{MAX_DIAGNOSTICS, SchemaDiagnostic, SchemaErrorKind};
use super::excerpt::quoted;
use super::graph::{Graph, Pattern};
use super::violation::child;

/// The patterns of a schema.
#[derive(Default)]
pub(super) struct Patterns<'s> {
    all: Vec<Pattern<'s>>,
    /// The number of distinct patterns.
    different: usize,
}

/// The maximum number of distinct patterns of a schema.
const MAX_PATTERNS: usize = 1024;
/// The memory limit for all compiled patterns, in bytes.
const ALL_BYTES: usize = 128 << 20;
/// The memory limits for one compiled pattern and for the tables built while matching, in bytes.
const MAX_BYTES: usize = 10 << 20;
const MAX_TABLE_BYTES: usize = 2 << 20;
/// The backtrack limit of a pattern with look-around or a back reference. Each step may scan the whole text again. The
/// second limit applies to values with much text.
const BACKTRACK_LIMIT: usize = 20_000;
const LOW_BACKTRACK_LIMIT: usize = 500;
/// The amount of text in a value, in bytes, above which the low backtrack limit applies.
const MUCH_TEXT: usize = 8 << 10;

impl<'s> Patterns<'s> {
    /// Groups the patterns of a schema.
    ///
    /// # Errors
    ///
    /// Returns the defect of a schema with too many patterns.
    pub(super) fn new(all: Vec<Pattern<'s>>) -> Result<Self, SchemaDiagnostic> {
        let mut texts: Vec<&str> = all.iter().map(|pattern| pattern.text).collect();
        texts.sort_unstable();
        texts.dedup();
        let different = texts.len();
        if different > MAX_PATTERNS {
            let message = format!("the schema has more than {MAX_PATTERNS} distinct patterns");
            return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
        }
        Ok(Self { all, different })
    }

    /// Returns the options of a validator with these patterns.
    pub(super) fn options(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.options_with_limit(dialect, BACKTRACK_LIMIT)
    }

    /// Returns the options of a validator for values with much text.
    pub(super) fn low_backtrack_limit(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.options_with_limit(dialect, LOW_BACKTRACK_LIMIT)
    }

    fn options_with_limit(&self, dialect: Dialect, backtrack_limit: usize) -> ValidationOptions<'static> {
        let bytes = (ALL_BYTES / self.different.max(1)).min(MAX_BYTES);
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

    /// Returns true if a pattern may need the backtracking engine.
    pub(super) fn need_backtracking(&self) -> bool {
        self.all.iter().any(|pattern| needs_backtracking(pattern.text))
    }

    /// Returns the defects of the `wanted` patterns that do not compile.
    pub(super) fn broken(
        &self,
        options: &ValidationOptions<'_>,
        graph: &Graph<'s>,
        wanted: impl Fn(&Pattern<'s>) -> bool,
    ) -> Vec<SchemaDiagnostic> {
        let compiles = |text: &str| {
            let keys = Map::from_iter([(text.to_owned(), Value::Bool(true))]);
            options.build(&Map::from_iter([("patternProperties".to_owned(), keys.into())]).into()).is_ok()
        };
        let mut known: HashMap<&str, bool> = HashMap::new();
        let broken = self
            .all
            .iter()
            .filter(|pattern| wanted(pattern) && !*known.entry(pattern.text).or_insert_with(|| compiles(pattern.text)));
        // One more than is reported, so that the error knows that it is incomplete.
        let broken = broken.take(MAX_DIAGNOSTICS + 1);
        let diagnostics = broken.map(|pattern| {
            let schema = graph.pointer(pattern.node);
            let pointer = match pattern.of_keys {
                true => child(&child(&schema, "patternProperties"), pattern.text),
                false => child(&schema, "pattern"),
            };
            let message = format!("the pattern {} is invalid, or too large to compile", quoted(pattern.text));
            SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message)
        });
        diagnostics.collect()
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

/// A compiled pattern that matches as validation does.
#[doc(hidden)]
pub struct Matcher {
    validator: Validator,
    needs_backtracking: bool,
}

impl Matcher {
    /// The memory limit of a pattern, in bytes.
    const MAX_BYTES: usize = 1 << 20;

    /// Compiles a pattern. Returns `None` if it is invalid or exceeds the memory limit.
    pub fn compile(pattern: &str) -> Option<Self> {
        let engine = PatternOptions::fancy_regex().backtrack_limit(BACKTRACK_LIMIT).size_limit(Self::MAX_BYTES);
        let engine = engine.dfa_size_limit(Self::MAX_BYTES);
        let options = jsonschema::options().offline().with_pattern_options(engine);
        let validator = options.build(&serde_json::json!({ "pattern": pattern })).ok()?;
        Some(Self { validator, needs_backtracking: needs_backtracking(pattern) })
    }

    pub fn is_match(&self, text: &str) -> bool {
        self.validator.is_valid(&Value::from(text))
    }

    /// Returns true if matching may scan a text several times.
    pub fn needs_backtracking(&self) -> bool {
        self.needs_backtracking
    }
}

/// Returns true if a pattern contains a group other than `(…)` and `(?:…)`, a back reference, or a possessive
/// quantifier.
fn needs_backtracking(pattern: &str) -> bool {
    let pairs = pattern.as_bytes().windows(2).zip(2..);
    pairs.into_iter().any(|(pair, next)| match pair {
        [b'(', b'?'] => pattern.as_bytes().get(next) != Some(&b':'),
        [b'\\', escaped] => escaped.is_ascii_digit() || b"kKG".contains(escaped),
        [b'*' | b'+' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}

/// Returns true if the text of a value is so long that it needs the low backtrack limit.
pub(super) fn has_much_text(instance: &Value) -> bool {
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_look_around_back_references_and_possessive_quantifiers_need_backtracking() {
        for pattern in ["(?=a)", "(?<!a)b", r"(a)\1", r"\k<name>", "a++", "a{2}+", "(?>a)"] {
            assert!(needs_backtracking(pattern), "{pattern}");
        }
        for pattern in ["", "^[a-z]+$", "(?:a|b)*", r"\d{2,}", "(a)(b)", "a+?", r"\w\s\."] {
            assert!(!needs_backtracking(pattern), "{pattern}");
        }
    }

    #[test]
    fn keys_and_strings_of_a_value_count_as_text() {
        let text = "x".repeat(MUCH_TEXT / 2);
        assert!(!has_much_text(&json!([text, 1, null])));
        assert!(!has_much_text(&json!([text, text])));
        assert!(has_much_text(&json!([text, text, "x"])));
        assert!(has_much_text(&json!({ text.clone(): { text: "x" } })));
    }
}
