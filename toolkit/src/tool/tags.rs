//! Tags: short lower-case words that group tools and feed search.
//!
//! `toolkit-derive` compiles this file too (through a link), so that the compiler and the library agree on every tag.

/// The longest tag kept, in bytes; what is left after normalisation is ASCII.
pub const MAX_TAG_LEN: usize = 64;

/// How many tags of one tool are kept.
pub const MAX_TAGS: usize = 20;

/// The tags as they are stored: normalised, each once, in the order given, at most [`MAX_TAGS`].
///
/// ```
/// # use toolkit::tool::normalize_tags;
/// assert_eq!(normalize_tags(["  Machine Learning ", "AI", "machine-learning", "!!"]), ["machine-learning", "ai"]);
/// ```
pub fn normalize_tags<I>(tags: I) -> Vec<String>
where
    I: IntoIterator,
    I::Item: AsRef<str>,
{
    let mut kept: Vec<String> = Vec::new();
    for tag in tags {
        if kept.len() == MAX_TAGS {
            break;
        }
        if let Some(tag) = normalize_tag(tag.as_ref()).filter(|tag| !kept.contains(tag)) {
            kept.push(tag);
        }
    }
    kept
}

/// One tag as it is stored, or `None` where nothing of it is left.
///
/// Lower case; trimmed; runs of white space become `-`; all but `a-z`, `0-9`, `-`, `_` and `.` is dropped; cut at
/// [`MAX_TAG_LEN`].
#[must_use]
pub fn normalize_tag(tag: &str) -> Option<String> {
    let lower = tag.to_lowercase();
    let mut kept = String::new();
    for (idx, word) in lower.split_whitespace().enumerate() {
        if idx > 0 {
            kept.push('-');
        }
        kept.extend(
            word.chars().filter(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.')),
        );
    }
    kept.truncate(MAX_TAG_LEN);
    (!kept.is_empty()).then_some(kept)
}
