//! Tags: short lower-case words that group tools and improve search.
//!
//! `toolkit-derive` includes this file through a link, so that the compiler and the library apply the same rule.

/// The maximum length of a tag in bytes. Normalized tags are ASCII.
pub const MAX_TAG_LEN: usize = 64;

/// The maximum number of tags of a tool.
pub const MAX_TAGS: usize = 20;

/// Normalizes tags and removes duplicates. Keeps the order and at most [`MAX_TAGS`] tags.
///
/// ```
/// # use toolkit::tool::normalize_tags;
/// assert_eq!(normalize_tags(["  Machine Learning ", "AI", "machine-learning", "!!"]), ["machine-learning", "ai"]);
/// ```
pub fn normalize_tags(tags: impl IntoIterator<Item: AsRef<str>>) -> Vec<String> {
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

/// Normalizes a tag. Returns `None` if no character remains.
///
/// The tag is converted to lower case and trimmed, white space is replaced by `-`, all characters except `a-z`, `0-9`,
/// `-`, `_` and `.` are removed, and the result is cut at [`MAX_TAG_LEN`].
///
/// # Examples
///
/// ```
/// use toolkit::tool::normalize_tag;
///
/// assert_eq!(normalize_tag(" Machine  Learning").as_deref(), Some("machine-learning"));
/// assert_eq!(normalize_tag("C++").as_deref(), Some("c"));
/// assert_eq!(normalize_tag("!!"), None);
/// ```
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
