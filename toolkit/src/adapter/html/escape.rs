//! Text that stays text: nothing that a stranger wrote is markup, and nothing in it is hidden.

use std::collections::HashSet;

use serde_json::Value;

use crate::lint::invisible::{hidden, kind};

/// `text` as the content of an element. What prints as nothing, or turns the text around, becomes a mark that is seen.
pub(super) fn text(text: &str) -> String {
    marked(text, |c| format!("U+{:04X}", u32::from(c)))
}

/// `json` as the content of an element, indented, its keys in their order; what is hidden is escaped as JSON does, so
/// that what is copied is still the same JSON.
pub(super) fn json(json: &Value) -> String {
    let mut json = json.clone();
    json.sort_all_objects();
    escaped_json(&format!("{json:#}"))
}

/// As [`json`], for JSON that is text already.
pub(super) fn escaped_json(json: &str) -> String {
    let escape = |c: char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect();
    marked(json, escape)
}

/// `text` between the quotes of an attribute, or as a title, where there is no room for a mark: what is hidden is left out.
pub(super) fn attribute(text: &str) -> String {
    let hidden: HashSet<usize> = hidden(text).map(|(at, _)| at).collect();
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        if !hidden.contains(&at) && !ends_a_line(c) {
            push(c, &mut out);
        }
    }
    out
}

/// `url` as an address that is what it shows.
pub(super) fn href(url: &str) -> String {
    attribute(&percent_encoded(url, |c| c.is_ascii_graphic()))
}

/// `text` with all bytes as `%XX` but those of the characters that `keeps` says.
pub(super) fn percent_encoded(text: &str, keeps: impl Fn(char) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match keeps(c) {
            true => out.push(c),
            false => out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("%{byte:02X}"))),
        }
    }
    out
}

/// Separators of lines and paragraphs: a browser shows them as it likes.
fn ends_a_line(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

fn marked(text: &str, mark: impl Fn(char) -> String) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut hidden = hidden(text).peekable();
    for (at, c) in text.char_indices() {
        let is_hidden = hidden.next_if(|(hidden_at, _)| *hidden_at == at).is_some();
        if is_hidden || ends_a_line(c) {
            let what = if is_hidden { kind(c) } else { "it ends a line" };
            out.push_str(&format!(r#"<mark class="hidden" title="{what}">{}</mark>"#, mark(c)));
        } else {
            push(c, &mut out);
        }
    }
    out
}

fn push(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // No document may have it, not even escaped.
        '\0' => out.push('\u{FFFD}'),
        c => out.push(c),
    }
}
