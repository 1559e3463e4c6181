//! The texts of a schema and of a value that a message repeats, shortened.

use std::fmt::Write as _;

use serde_json::Value;

/// The maximum length of a scalar that a message repeats, in characters.
const MAX_SENT: usize = 80;

/// The maximum number of names or values that a message lists.
pub(in super::super) const MAX_LISTED: usize = 40;

/// Returns the start of a rule, with room for the rest.
pub(in super::super) fn begun(start: &str) -> String {
    let mut rule = String::with_capacity(64);
    rule.push_str(start);
    rule
}

/// Appends the first [`MAX_LISTED`] names, separated by commas. `push` appends one of them.
pub(in super::super) fn push_list<T>(
    text: &mut String,
    mut names: impl Iterator<Item = T>,
    push: impl Fn(&mut String, T),
) {
    for (idx, name) in names.by_ref().take(MAX_LISTED).enumerate() {
        text.push_str(if idx == 0 { "" } else { ", " });
        let start = text.len();
        push(text, name);
        shorten(text, start);
    }
    if names.next().is_some() {
        text.push_str(", …");
    }
}

/// Appends a name in backticks.
pub(in super::super) fn push_quoted(text: &mut String, name: &str) {
    text.push('`');
    text.push_str(name);
    text.push('`');
}

/// Appends a value as JSON.
pub(in super::super) fn push_json(text: &mut String, value: &Value) {
    match value {
        // The common values without the serializer, which writes each part of a string by itself.
        Value::String(plain) if plain.bytes().all(|byte| byte >= b' ' && !matches!(byte, b'"' | b'\\')) => {
            text.push('"');
            text.push_str(plain);
            text.push('"');
        }
        // Writing to a string cannot fail.
        Value::Number(number) => {
            let _ = write!(text, "{number}");
        }
        value => {
            let _ = write!(text, "{value}");
        }
    }
}

/// The maximum length of schema text in a message, in characters.
const MAX_QUOTED: usize = 240;

/// Truncates the text after `start`, which the schema contains, to [`MAX_QUOTED`] characters.
pub(in super::super) fn shorten(text: &mut String, start: usize) {
    if text.len() - start > MAX_QUOTED
        && let Some((length, _)) = text[start..].char_indices().nth(MAX_QUOTED)
    {
        text.truncate(start + length);
        text.push('…');
    }
}

/// Returns the part of a rejected value that a message may repeat: a short scalar.
pub(in super::super) fn repeatable(instance: &Value) -> Option<Value> {
    let short = match instance {
        Value::String(text) => text.len() <= MAX_SENT || text.chars().nth(MAX_SENT).is_none(),
        Value::Array(items) => items.is_empty(),
        Value::Object(_) => false,
        _ => true,
    };
    short.then(|| instance.clone())
}

/// Shortens long keys in a pointer.
pub(in super::super) fn shorten_pointer(pointer: String) -> String {
    if pointer.len() <= MAX_SENT {
        return pointer;
    }
    let short = |token: &str| match token.char_indices().nth(MAX_SENT) {
        Some((end, _)) => format!("{}…", &token[..end]),
        None => token.to_owned(),
    };
    pointer.split('/').map(short).collect::<Vec<_>>().join("/")
}
