//! The texts of a schema and of a value that a message repeats, shortened.

use std::fmt::{self, Display, Write as _};

use serde_json::Value;

/// The maximum length of a scalar that a message repeats, in characters.
const MAX_SENT: usize = 80;

/// The maximum number of names or values that a message lists.
pub(super) const MAX_LISTED: usize = 40;

/// Joins the first [`MAX_LISTED`] names with commas.
pub(super) fn listed<T: Display>(mut names: impl Iterator<Item = T>) -> String {
    let mut text = String::new();
    for (idx, name) in names.by_ref().take(MAX_LISTED).enumerate() {
        text.push_str(if idx == 0 { "" } else { ", " });
        let start = text.len();
        // Writing to a string cannot fail.
        let _ = write!(text, "{name}");
        shorten(&mut text, start);
    }
    if names.next().is_some() {
        text.push_str(", …");
    }
    text
}

/// A name in backticks.
pub(super) struct Quoted<'n>(pub(super) &'n str);

impl Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char('`')?;
        f.write_str(self.0)?;
        f.write_char('`')
    }
}

/// The maximum length of schema text in a message, in characters.
const MAX_QUOTED: usize = 240;

/// Shortens a text of the schema for a message.
pub(super) fn short(mut text: String) -> String {
    shorten(&mut text, 0);
    text
}

/// Truncates the text after `start` to [`MAX_QUOTED`] characters.
fn shorten(text: &mut String, start: usize) {
    if text.len() - start > MAX_QUOTED
        && let Some((length, _)) = text[start..].char_indices().nth(MAX_QUOTED)
    {
        text.truncate(start + length);
        text.push('…');
    }
}

/// Returns the part of a rejected value that a message may repeat: a short scalar.
pub(super) fn repeatable(instance: &Value) -> Option<Value> {
    let short = match instance {
        Value::String(text) => text.len() <= MAX_SENT || text.chars().nth(MAX_SENT).is_none(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
        _ => true,
    };
    short.then(|| instance.clone())
}

/// Shortens long keys in a pointer.
pub(super) fn shorten_pointer(pointer: String) -> String {
    if pointer.len() <= MAX_SENT {
        return pointer;
    }
    let short = |token: &str| match token.char_indices().nth(MAX_SENT) {
        Some((end, _)) => format!("{}…", &token[..end]),
        None => token.to_owned(),
    };
    pointer.split('/').map(short).collect::<Vec<_>>().join("/")
}
