//! Escaping of untrusted text: nothing in it is markup, and nothing is invisible.

use std::collections::HashSet;

use serde_json::Value;

use toolkit::schema::invisible::{hidden, kind};

/// The number of marked runs of hidden characters in a text. A mark is longer than the characters that it replaces.
const MAX_MARKS: usize = 64;

/// The number of characters of a run that a mark lists.
const MAX_NAMED: usize = 8;

/// Escapes `text` as the content of an element, with a visible mark for invisible and bidirectional control characters.
pub(super) fn text(text: &str) -> String {
    let names = |run: &[char]| {
        let names: Vec<String> = run.iter().take(MAX_NAMED).map(|c| format!("U+{:04X}", u32::from(*c))).collect();
        match run.len() - names.len() {
            0 => names.join(" "),
            n => format!("{} and {n} more", names.join(" ")),
        }
    };
    let (mut out, n_left) = marked(text, names, |_| String::new());
    if n_left > 0 {
        out.push_str(&format!(r#"<mark class="hidden">and {n_left} more hidden characters</mark>"#));
    }
    out
}

/// Formats `json` as the content of an element, indented and with sorted keys. Hidden characters become JSON escapes,
/// so that copied text is the same JSON.
pub(super) fn json(json: &Value) -> String {
    let mut json = json.clone();
    json.sort_all_objects();
    escaped_json(&format!("{json:#}"))
}

/// Does the same as [`json`] for JSON text.
pub(super) fn escaped_json(json: &str) -> String {
    let escape = |c: &char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let escaped = |run: &[char]| run.iter().map(escape).collect::<String>();
    marked(json, escaped, escaped).0
}

/// Escapes `text` as an attribute value. Hidden characters are removed, since an attribute cannot contain a mark.
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

/// Escapes `url` as an address without invisible or non-ASCII characters.
pub(super) fn href(url: &str) -> String {
    attribute(&percent_encoded(url, |c| c.is_ascii_graphic()))
}

/// Percent-encodes all characters except those for which `keeps` returns true.
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

/// Returns true for line and paragraph separators, which browsers render inconsistently.
fn ends_a_line(c: char) -> bool {
    matches!(c, '\u{2028}' | '\u{2029}')
}

/// Escapes `text` and replaces each run of hidden characters by a mark with the result of `mark`, or after
/// [`MAX_MARKS`] by the result of `plain`. Returns the number of characters without a mark, too.
fn marked(text: &str, mark: impl Fn(&[char]) -> String, plain: impl Fn(&[char]) -> String) -> (String, usize) {
    let mut out = String::with_capacity(text.len() + text.len() / 8);
    let mut hidden = hidden(text).map(|(at, _)| at).peekable();
    let mut chars =
        text.char_indices().map(|(at, c)| (c, hidden.next_if_eq(&at).is_some() || ends_a_line(c))).peekable();
    let (mut n_marks, mut n_plain, mut run) = (0, 0, Vec::new());
    while let Some((c, is_hidden)) = chars.next() {
        if !is_hidden {
            push(c, &mut out);
            continue;
        }
        run.push(c);
        if chars.peek().is_some_and(|(_, is_hidden)| *is_hidden) {
            continue;
        }
        n_marks += 1;
        if n_marks <= MAX_MARKS {
            let what = if ends_a_line(run[0]) { "line separator" } else { kind(run[0]) };
            out.push_str(&format!(r#"<mark class="hidden" title="{what}">{}</mark>"#, mark(&run)));
        } else {
            n_plain += run.len();
            out.push_str(&plain(&run));
        }
        run.clear();
    }
    (out, n_plain)
}

fn push(c: char, out: &mut String) {
    match c {
        '&' => out.push_str("&amp;"),
        '<' => out.push_str("&lt;"),
        '>' => out.push_str("&gt;"),
        '"' => out.push_str("&quot;"),
        '\'' => out.push_str("&#39;"),
        // No document may contain it, not even escaped.
        '\0' => out.push('\u{FFFD}'),
        c => out.push(c),
    }
}
