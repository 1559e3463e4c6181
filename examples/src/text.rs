//! Third lesson: limits that stand in the schema.
//!
//! What `#[schemars(length, range, regex)]` says is published to the model *and* checked before the function runs, so
//! the function need not check it again. What a schema cannot bound — the cost of a stranger's pattern — is bounded
//! here.

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

/// The longest text, in characters, that these tools take or give.
const MAX_TEXT: usize = 1_000_000;

/// The most memory that one compiled pattern may take; `\w{1000}` would be hundreds of megabytes otherwise.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The most that one search may cost, as the bytes of the compiled pattern times those of the text: some seconds. A
/// search looks at each byte with each state of the pattern at worst, and cannot be interrupted.
const MAX_SEARCH_COST: usize = 1 << 37;

/// How long all replacements in a text may take. Each search is linear, but as many searches as there are bytes are not:
/// `.*[^a]|a` looks through the rest of the text for every `a`.
const MAX_REPLACING: Duration = Duration::from_secs(5);

/// Compiles a pattern that a model sent, for texts of at most `max_bytes`.
///
/// # Errors
///
/// The pattern is not valid, or too large for such texts once it is compiled.
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

/// How long a text is.
#[derive(Debug, PartialEq, Serialize, JsonSchema)]
pub struct Counts {
    /// Lines; the last one needs no line break to count.
    pub lines: usize,
    /// Words, which are what stands between white space.
    pub words: usize,
    /// Unicode characters (code points).
    pub characters: usize,
    /// Bytes in UTF-8.
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

/// A text in which something was replaced.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Replaced {
    /// The new text.
    pub text: String,
    /// How many matches were replaced.
    pub replacements: usize,
}

/// Replaces what a regular expression matches.
///
/// `$1` and `${name}` in the replacement stand for capture groups, `$$` for a dollar sign. `^` and `$` in the pattern
/// match at line ends.
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
    /// What to put in place of each match.
    #[schemars(length(max = 10_000))]
    replacement: String,
    /// Whether upper and lower case are the same.
    #[serde(default)]
    ignore_case: bool,
    /// How many matches to replace, from the start; all unless given.
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
        // A short text with a long replacement may grow without bound. Each `$` may stand for the whole match.
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
