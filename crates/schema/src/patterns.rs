//! The limits for compiling and matching the patterns of a schema.

#[cfg(feature = "jsonschema")]
mod library;
mod matcher;

use std::collections::HashMap;

#[cfg(feature = "jsonschema")]
pub(super) use self::library::has_much_text;
pub use self::matcher::Matcher;
use super::child::child;
use super::error::{MAX_DIAGNOSTICS, SchemaDiagnostic, SchemaErrorKind};
use super::excerpt::quoted;
use super::graph::{Graph, Pattern};

/// The patterns of a schema.
#[derive(Default)]
pub(super) struct Patterns<'s> {
    all: Vec<Pattern<'s>>,
    /// The number of distinct patterns.
    #[cfg_attr(not(feature = "jsonschema"), expect(dead_code, reason = "they share the memory of `jsonschema`"))]
    different: usize,
}

/// The maximum number of distinct patterns of a schema.
const MAX_PATTERNS: usize = 1024;
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
            let message = format!("the pattern {} is invalid, or too large to compile", quoted(pattern.text));
            SchemaDiagnostic::new(SchemaErrorKind::InvalidSchema, pointer, message)
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
fn needs_backtracking(pattern: &str) -> bool {
    let pairs = pattern.as_bytes().windows(2).zip(2..);
    pairs.into_iter().any(|(pair, next)| match pair {
        [b'(', b'?'] => pattern.as_bytes().get(next) != Some(&b':'),
        [b'\\', escaped] => escaped.is_ascii_digit() || b"kKG".contains(escaped),
        [b'*' | b'+' | b'?' | b'}', b'+'] => true,
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::{is_portable, needs_backtracking};

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

    #[test]
    fn only_look_around_back_references_and_possessive_quantifiers_need_backtracking() {
        for pattern in ["(?=a)", "(?<!a)b", r"(a)\1", r"\k<name>", "a++", "a{2}+", "(?>a)"] {
            assert!(needs_backtracking(pattern), "{pattern}");
        }
        for pattern in ["", "^[a-z]+$", "(?:a|b)*", r"\d{2,}", "(a)(b)", "a+?", r"\w\s\."] {
            assert!(!needs_backtracking(pattern), "{pattern}");
        }
    }
}
