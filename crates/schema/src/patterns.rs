//! The limits for compiling and matching the patterns of a schema.

#[cfg(feature = "jsonschema")]
mod options;

use std::collections::HashMap;

#[cfg(feature = "jsonschema")]
pub(crate) use self::options::has_much_text;
#[cfg(feature = "jsonschema")]
use self::options::validator;
use super::error::{MAX_DIAGNOSTICS, SchemaDiagnostic, SchemaErrorKind};
use super::excerpt::quoted;
use super::graph::{Graph, Pattern};
use super::pointer::child;
use crate::plan::Pattern as Linear;

/// The patterns of a schema.
#[derive(Default)]
pub(super) struct Patterns<'s> {
    all: Vec<Pattern<'s>>,
    /// The number of distinct patterns, which share the memory.
    different: usize,
}

/// The maximum number of distinct patterns of a schema.
const MAX_PATTERNS: usize = 1024;

/// The maximum length of the distinct patterns of a schema together, in bytes, which bounds the time to compile them.
const MAX_PATTERN_BYTES: usize = 256 << 10;

/// The memory limit for all compiled patterns, in bytes.
const ALL_BYTES: usize = 128 << 20;
/// The memory limit for one compiled pattern, in bytes.
const MAX_BYTES: usize = 10 << 20;

impl<'s> Patterns<'s> {
    /// Groups the patterns of a schema.
    ///
    /// # Errors
    ///
    /// Returns the defect of a schema with too many or too long patterns.
    pub(super) fn new(all: Vec<Pattern<'s>>) -> Result<Self, SchemaDiagnostic> {
        let mut texts: Vec<&str> = all.iter().map(|pattern| pattern.text).collect();
        texts.sort_unstable();
        texts.dedup();
        let different = texts.len();
        if different > MAX_PATTERNS {
            let message = format!("the schema has more than {MAX_PATTERNS} distinct patterns");
            return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
        }
        if texts.iter().map(|text| text.len()).sum::<usize>() > MAX_PATTERN_BYTES {
            let message = format!("the patterns of the schema have more than {MAX_PATTERN_BYTES} bytes");
            return Err(SchemaDiagnostic::new(SchemaErrorKind::TooComplex, "", message));
        }
        Ok(Self { all, different })
    }

    /// Returns the memory limit of each pattern, in bytes.
    pub(super) fn max_bytes(&self) -> usize {
        (ALL_BYTES / self.different.max(1)).min(MAX_BYTES)
    }

    /// Returns the defects of the `wanted` patterns that do not compile.
    pub(super) fn broken(
        &self,
        compiles: impl Fn(&str) -> bool,
        graph: &Graph<'s>,
        wanted: impl Fn(&Pattern<'s>) -> bool,
    ) -> Vec<SchemaDiagnostic> {
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
            let text = quoted(pattern.text);
            match cfg!(feature = "jsonschema") || Linear::is_supported(pattern.text) {
                true => {
                    let message = format!("the pattern {text} is invalid, or too large to compile");
                    SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message)
                }
                false => {
                    let message = format!(
                        "the pattern {text}, with look-around or a back reference, needs the feature `jsonschema` of \
                         `toolkit-core`"
                    );
                    SchemaDiagnostic::new(SchemaErrorKind::UnsupportedKeyword, pointer, message)
                }
            }
        });
        diagnostics.collect()
    }
}

/// The maximum length of a portable pattern, in bytes.
const MAX_PORTABLE_LEN: usize = 4096;

/// Returns true if the common engines for regular expressions accept a pattern: those of JavaScript and Python, and those
/// without backtracking. Look-around, back references, possessive quantifiers and inline flags are not portable, nor are
/// escapes such as `\p` that some engines reject.
#[must_use]
pub fn is_portable(pattern: &str) -> bool {
    let mut is_in_class = false;
    let mut rest = pattern.as_bytes();
    while let [first, after @ ..] = rest {
        rest = after;
        match (first, after) {
            (b'\\', [escaped, after @ ..]) => {
                let is_punctuation = escaped.is_ascii_punctuation() && !b"<>".contains(escaped);
                if !is_punctuation && !b"bBdDfnrsStuvwWx".contains(escaped) {
                    return false;
                }
                rest = after;
            }
            (b'[', _) if !is_in_class => is_in_class = true,
            (b']', _) => is_in_class = false,
            (b'(', [b'?', after @ ..]) if !is_in_class && !after.starts_with(b":") => return false,
            (b'*' | b'+' | b'?' | b'}', [b'+', ..]) if !is_in_class => return false,
            _ => {}
        }
    }
    pattern.len() <= MAX_PORTABLE_LEN && regex_syntax::parse(pattern).is_ok()
}

/// Returns true if a pattern contains a group other than `(…)` and `(?:…)`, a back reference, or a possessive
/// quantifier.
#[cfg(feature = "jsonschema")]
fn needs_backtracking(pattern: &str) -> bool {
    let pairs = pattern.as_bytes().windows(2).zip(2..);
    pairs.into_iter().any(|(pair, next)| match pair {
        [b'(', b'?'] => pattern.as_bytes().get(next) != Some(&b':'),
        [b'\\', escaped] => escaped.is_ascii_digit() || b"kKG".contains(escaped),
        [b'*' | b'+' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}

/// A compiled pattern that matches as validation does.
pub(crate) struct Matcher(MatcherEngine);

enum MatcherEngine {
    Linear(Linear),
    #[cfg(feature = "jsonschema")]
    Library(Box<jsonschema::Validator>),
}

impl Matcher {
    /// The memory limit of a pattern, in bytes.
    const MAX_BYTES: usize = 1 << 20;

    /// Compiles a pattern. Returns `None` if it is invalid or exceeds the memory limit.
    pub fn compile(pattern: &str) -> Option<Self> {
        if Linear::is_supported(pattern) {
            return Linear::compile(pattern, Self::MAX_BYTES)
                .ok()
                .map(|compiled| Self(MatcherEngine::Linear(compiled)));
        }
        #[cfg(feature = "jsonschema")]
        return validator(pattern, Self::MAX_BYTES).map(|compiled| Self(MatcherEngine::Library(Box::new(compiled))));
        #[cfg(not(feature = "jsonschema"))]
        None
    }

    pub fn is_match(&self, text: &str) -> bool {
        match &self.0 {
            MatcherEngine::Linear(compiled) => compiled.is_match(text),
            #[cfg(feature = "jsonschema")]
            MatcherEngine::Library(compiled) => compiled.is_valid(&serde_json::Value::from(text)),
        }
    }

    /// Returns true if matching may scan a text several times.
    pub fn needs_backtracking(&self) -> bool {
        !matches!(self.0, MatcherEngine::Linear(_))
    }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "jsonschema")]
    use serde_json::json;

    use super::is_portable;
    #[cfg(feature = "jsonschema")]
    use super::options::MUCH_TEXT;
    use super::{has_much_text, needs_backtracking};

    #[test]
    fn patterns_are_portable_if_all_engines_accept_them() {
        for pattern in
            ["", "^[a-z]+$", r"^\(?\d{3}\)?[-. ]?\d{4}$", "(?:a|b)*?", r"[\w.+-]+@[^@\s]+", r"\u00e4\x41\/", "[*+]+"]
        {
            assert!(is_portable(pattern), "{pattern}");
        }
        let zod_email =
            r"^(?!\.)(?!.*\.\.)([A-Za-z0-9_'+\-\.]*)[A-Za-z0-9_+-]@([A-Za-z0-9][A-Za-z0-9\-]*\.)+[A-Za-z]{2,}$";
        let pydantic_decimal = r"^(?!^[-+.]*$)[+-]?0*\d*\.?\d*$";
        let others = [
            "(?=a)", "(?<!a)b", r"(a)\1", r"\k<n>", "a++", "(?>a)", "(?i)a", "(?<n>a)", r"\p{L}", r"\Aa\z", r"\cA",
            "(", "a{2,1}", "\\",
        ];
        for pattern in [zod_email, pydantic_decimal].into_iter().chain(others) {
            assert!(!is_portable(pattern), "{pattern}");
        }
        assert!(!is_portable(&"a".repeat(100_000)));
    }

    #[cfg(feature = "jsonschema")]
    #[test]
    fn only_look_around_back_references_and_possessive_quantifiers_need_backtracking() {
        for pattern in ["(?=a)", "(?<!a)b", r"(a)\1", r"\k<name>", "a++", "a{2}+", "(?>a)"] {
            assert!(needs_backtracking(pattern), "{pattern}");
        }
        for pattern in ["", "^[a-z]+$", "(?:a|b)*", r"\d{2,}", "(a)(b)", "a+?", r"\w\s\."] {
            assert!(!needs_backtracking(pattern), "{pattern}");
        }
    }

    #[cfg(feature = "jsonschema")]
    #[test]
    fn keys_and_strings_of_a_value_count_as_text() {
        let text = "x".repeat(MUCH_TEXT / 2);
        assert!(!has_much_text(&json!([text, 1, null])));
        assert!(!has_much_text(&json!([text, text])));
        assert!(has_much_text(&json!([text, text, "x"])));
        assert!(has_much_text(&json!({ text.clone(): { text: "x" } })));
    }
}
