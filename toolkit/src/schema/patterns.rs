//! What the patterns of a schema may take, to compile and to match.

use std::collections::HashMap;

use jsonschema::{Keyword, PatternOptions, ValidationError, ValidationOptions, Validator};
use serde_json::{Map, Value};

use super::dialect::Dialect;
use super::error::{MAX_FAULTS, SchemaErrorKind, SchemaFault};
use super::excerpt::quoted;
use super::graph::{Graph, Pattern};
use super::violation::child;

/// The patterns of a schema.
#[derive(Default)]
pub(super) struct Patterns<'s> {
    all: Vec<Pattern<'s>>,
    /// How many different ones there are.
    different: usize,
}

/// How many different patterns a schema may have.
const MAX_PATTERNS: usize = 1024;
/// What all of them may take, in bytes.
const ALL_BYTES: usize = 128 << 20;
/// What one may take compiled, and in tables made while it is matched.
const MAX_BYTES: usize = 10 << 20;
const MAX_TABLE_BYTES: usize = 2 << 20;
/// How often a pattern with look-around or a back reference may start over for one text: each time it may look at all
/// of it again.
const MAX_STARTS: usize = 20_000;
const MAX_HASTY_STARTS: usize = 500;
/// How many bytes of text a value has from which on fewer starts must do.
const MUCH_TEXT: usize = 8 << 10;

impl<'s> Patterns<'s> {
    /// # Errors
    ///
    /// The fault of a schema with too many.
    pub(super) fn of(all: Vec<Pattern<'s>>) -> Result<Self, SchemaFault> {
        let mut texts: Vec<&str> = all.iter().map(|pattern| pattern.text).collect();
        texts.sort_unstable();
        texts.dedup();
        let different = texts.len();
        if different > MAX_PATTERNS {
            let message = format!("it has more than {MAX_PATTERNS} different patterns");
            return Err(SchemaFault::new(SchemaErrorKind::TooComplex, "", message));
        }
        Ok(Self { all, different })
    }

    /// How to build a validator with these patterns.
    pub(super) fn options(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.with(dialect, MAX_STARTS)
    }

    /// How to build one for much text.
    pub(super) fn hasty(&self, dialect: Dialect) -> ValidationOptions<'static> {
        self.with(dialect, MAX_HASTY_STARTS)
    }

    fn with(&self, dialect: Dialect, starts: usize) -> ValidationOptions<'static> {
        let bytes = (ALL_BYTES / self.different.max(1)).min(MAX_BYTES);
        let engine = PatternOptions::fancy_regex().backtrack_limit(starts).size_limit(bytes);
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

    /// Whether one of them may need an engine that starts over.
    pub(super) fn are_hard(&self) -> bool {
        self.all.iter().any(|pattern| is_hard(pattern.text))
    }

    /// The patterns that do not compile, of those that are `wanted`.
    pub(super) fn broken(
        &self,
        options: &ValidationOptions<'_>,
        graph: &Graph<'s>,
        wanted: impl Fn(&Pattern<'s>) -> bool,
    ) -> Vec<SchemaFault> {
        let compiles = |text: &str| {
            let keys = Map::from_iter([(text.to_owned(), Value::Bool(true))]);
            options.build(&Map::from_iter([("patternProperties".to_owned(), keys.into())]).into()).is_ok()
        };
        let mut known: HashMap<&str, bool> = HashMap::new();
        let broken = self
            .all
            .iter()
            .filter(|pattern| wanted(pattern) && !*known.entry(pattern.text).or_insert_with(|| compiles(pattern.text)));
        // One more than is told.
        let broken = broken.take(MAX_FAULTS + 1);
        let faults = broken.map(|pattern| {
            let schema = graph.pointer(pattern.node);
            let pointer = match pattern.of_keys {
                true => child(&child(&schema, "patternProperties"), pattern.text),
                false => child(&schema, "pattern"),
            };
            let message = format!("the pattern {} does not compile, or is too large", quoted(pattern.text));
            SchemaFault::new(SchemaErrorKind::InvalidSchema, pointer, message)
        });
        faults.collect()
    }
}

/// Accepts every value. `jsonschema` asserts the content keywords in draft-07 and treats them as annotations in
/// draft 2020-12; a tool's contract must not depend on the dialect that its author's library writes.
struct Annotation;

impl<'i> Keyword<'i> for Annotation {
    fn validate(&self, _: &'i Value) -> Result<(), ValidationError<'i>> {
        Ok(())
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        true
    }
}

/// A pattern that is matched as validation matches it.
pub(crate) struct Matcher {
    validator: Validator,
    is_hard: bool,
}

impl Matcher {
    /// How much memory a pattern may take.
    const MAX_BYTES: usize = 1 << 20;

    /// Compiles a pattern; `None` if it is not one, or takes too much memory.
    pub(crate) fn compile(pattern: &str) -> Option<Self> {
        let engine = PatternOptions::fancy_regex().backtrack_limit(MAX_STARTS).size_limit(Self::MAX_BYTES);
        let engine = engine.dfa_size_limit(Self::MAX_BYTES);
        let options = jsonschema::options().offline().with_pattern_options(engine);
        let validator = options.build(&serde_json::json!({ "pattern": pattern })).ok()?;
        Some(Self { validator, is_hard: is_hard(pattern) })
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.validator.is_valid(&Value::from(text))
    }

    /// Returns true if matching may look at all of a text several times.
    pub(crate) fn is_hard(&self) -> bool {
        self.is_hard
    }
}

/// Whether a pattern has a group other than `(…)` and `(?:…)`, a back reference, or a quantifier that gives nothing
/// back.
fn is_hard(pattern: &str) -> bool {
    let pairs = pattern.as_bytes().windows(2).zip(2..);
    pairs.into_iter().any(|(pair, next)| match pair {
        [b'(', b'?'] => pattern.as_bytes().get(next) != Some(&b':'),
        [b'\\', escaped] => escaped.is_ascii_digit() || b"kKG".contains(escaped),
        [b'*' | b'+' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}

/// Whether a value has so much text that an engine that starts over must not do so often.
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
