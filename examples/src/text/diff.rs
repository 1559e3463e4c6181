//! Third lesson, continued: a time limit above which the result becomes less precise, but not wrong.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};
use toolkit::{Content, Structured, tool};

/// Difference between two texts.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TextDifference {
    /// True if the texts are equal.
    pub equal: bool,
    /// Number of lines that only the second text contains.
    pub added: usize,
    /// Number of lines that only the first text contains.
    pub removed: usize,
    /// The difference in unified format; empty if there is none.
    pub diff: String,
}

/// Compares two texts line by line, as `diff -u` does.
#[tool(namespace = "text", version = "1.0.0", category = "text", read_only, idempotent, open_world = false, blocking)]
pub fn diff_text(
    /// The first text.
    #[schemars(length(max = 500_000))]
    old: String,
    /// The second text.
    #[schemars(length(max = 500_000))]
    new: String,
    /// Number of equal lines to show around each change.
    #[schemars(range(max = 20))]
    #[serde(default = "three")]
    context: usize,
) -> Structured<TextDifference> {
    let diff = TextDiff::configure().timeout(Duration::from_secs(2)).diff_lines(&*old, &*new);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    let unified = diff.unified_diff().context_radius(context).header("old", "new").to_string();
    let difference = TextDifference {
        equal: old == new,
        added: count(ChangeTag::Insert),
        removed: count(ChangeTag::Delete),
        diff: unified.clone(),
    };
    let shown = if difference.equal { "The texts are the same.".to_owned() } else { unified };
    Structured::new(difference, [Content::text(shown)])
}

fn three() -> usize {
    3
}
