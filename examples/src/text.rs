//! Third lesson: limits in the schema.
//!
//! `#[schemars(length, range, regex)]` is published to the model *and* checked before the function runs, so the
//! function does not check it again. A schema cannot bound the cost of a pattern that an untrusted caller sends; that
//! is bounded here.

mod diff;
mod extract;
mod slug;

use std::time::{Duration, Instant};

use regex::{Regex, RegexBuilder};
use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{ToolError, tool};

pub use self::diff::{TextDifference, diff_text};
pub use self::extract::{Extracted, Wanted, extract_links};
pub use self::slug::slugify;

/// The maximum length of an input or output text, in characters.
const MAX_TEXT: usize = 1_000_000;

/// The maximum memory of a compiled pattern, in bytes. Without it, `\w{1000}` would take hundreds of megabytes.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The maximum cost of one search: bytes of the compiled pattern times bytes of the text, which takes some seconds. In
/// the worst case, a search compares each byte with each state of the pattern, and it cannot be interrupted.
const MAX_SEARCH_COST: usize = 1 << 37;

/// The maximum duration of all replacements in a text. Each search is linear, but there can be as many searches as
/// bytes: `.*[^a]|a` scans the rest of the text for every `a`.
const MAX_REPLACING: Duration = Duration::from_secs(5);

/// Compiles a pattern that a model sent, for texts of up to `max_bytes`.
///
/// # Errors
///
/// Returns an error if the pattern is invalid, or too large for such texts once it is compiled.
pub fn compile_pattern(pattern: &str, ignore_case: bool, max_bytes: usize) -> Result<Regex, ToolError> {
    RegexBuilder::new(pattern)
        .case_insensitive(ignore_case)
        .multi_line(true)
        .size_limit(MAX_PATTERN_BYTES.min(MAX_SEARCH_COST / max_bytes.max(1)))
        .dfa_size_limit(MAX_PATTERN_BYTES)
        .build()
        .map_err(|error| match error {
            regex::Error::CompiledTooBig(_) => ToolError::failed(
                "the pattern is too large once compiled, or for a text of this length; use smaller repetitions, \
                     `[a-z]` for `\\w`, or a shorter text",
            ),
            error => {
                ToolError::failed(format!("the pattern is not valid: {error}\n(no look-around, no back-references)"))
            }
        })
}

/// Length of a text.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Counts {
    /// Number of lines; the last one does not need a line break.
    pub lines: usize,
    /// Number of words, separated by white space.
    pub words: usize,
    /// Number of Unicode characters (code points).
    pub characters: usize,
    /// Number of bytes in UTF-8.
    pub bytes: usize,
}

/// Counts the lines, words, characters and bytes of a text.
#[tool(namespace = "text", version = "1.0.0", aliases = ["text:wc"], category = "text", read_only, idempotent, open_world = false)]
pub fn count_text(
    /// The text.
    #[schemars(length(max = 1_000_000))]
    text: String,
) -> Counts {
    Counts {
        lines: text.lines().count(),
        words: text.split_whitespace().count(),
        characters: text.chars().count(),
        bytes: text.len(),
    }
}

/// A text after replacements.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Replaced {
    /// The new text.
    pub text: String,
    /// Number of matches that were replaced.
    pub replacements: usize,
}

/// Replaces the matches of a regular expression. In the replacement, `$1` and `${name}` stand for capture groups and
/// `$$` for a dollar sign. In the pattern, `^` and `$` match at line ends.
#[tool(
    namespace = "text",
    version = "1.0.0",
    tags = ["regex"],
    category = "text",
    read_only,
    idempotent,
    open_world = false,
    blocking,
    examples = [r#"{"text": "2024-05-06", "pattern": "(\\d+)-(\\d+)-(\\d+)", "replacement": "$3.$2.$1"}"#]
)]
pub fn replace_text(
    /// The text to change.
    #[schemars(length(max = 1_000_000))]
    text: String,
    /// A regular expression, without look-around or back-references.
    #[schemars(length(min = 1, max = 1000))]
    pattern: String,
    /// The replacement for each match.
    #[schemars(length(max = 10_000))]
    replacement: String,
    /// Ignores the difference between upper and lower case if true.
    #[serde(default)]
    ignore_case: bool,
    /// The maximum number of matches to replace, from the start; all by default.
    #[schemars(range(min = 1))]
    limit: Option<usize>,
) -> Result<Replaced, ToolError> {
    let pattern = compile_pattern(&pattern, ignore_case, text.len())?;
    let started = Instant::now();
    let mut new = String::new();
    let (mut replacements, mut end) = (0, 0);
    for captures in pattern.captures_iter(&text).take(limit.unwrap_or(usize::MAX)) {
        if started.elapsed() > MAX_REPLACING {
            return Err(ToolError::failed(
                "the replacements take too long; use a pattern that does not look through the whole text for each match, \
                 or set `limit`",
            ));
        }
        let Some(found) = captures.get(0) else {
            continue;
        };
        new.push_str(&text[end..found.start()]);
        // A short text with a long replacement can grow without bound, since each `$` may stand for the whole match.
        let most = replacement.len() + replacement.matches('$').count() * found.len();
        if new.len() + most > 4 * MAX_TEXT {
            return Err(ToolError::failed("the new text would be too long; set `limit`"));
        }
        captures.expand(&replacement, &mut new);
        end = found.end();
        replacements += 1;
    }
    new.push_str(&text[end..]);
    Ok(Replaced { text: new, replacements })
}
