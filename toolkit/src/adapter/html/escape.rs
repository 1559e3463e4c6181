//! Text that stays text: nothing that a stranger wrote is markup, and nothing in it is hidden.

use std::collections::HashSet;

use serde_json::Value;

use crate::lint::invisible::{hidden, kind};

/// How many hidden characters of one text are marked, each run of them with one mark: a mark takes more room than what
/// it marks.
const MAX_MARKS: usize = 64;

/// How many characters of a run are named.
const MAX_NAMED: usize = 8;

/// `text` as the content of an element. What prints as nothing, or turns the text around, becomes a mark that is seen.
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

/// `json` as the content of an element, indented, its keys in their order; what is hidden is escaped as JSON does, so
/// that what is copied is still the same JSON.
pub(super) fn json(json: &Value) -> String {
    let mut json = json.clone();
    json.sort_all_objects();
    escaped_json(&format!("{json:#}"))
}

/// As [`json`], for JSON that is text already.
pub(super) fn escaped_json(json: &str) -> String {
    let escape = |c: &char| c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect::<String>();
    let escaped = |run: &[char]| run.iter().map(escape).collect::<String>();
    marked(json, escaped, escaped).0
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

/// `text` with each run of hidden characters as `mark` writes it; beyond [`MAX_MARKS`] as `plain` writes it, without a
/// mark. Returns how many characters came without one.
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
            let what = if ends_a_line(run[0]) { "it ends a line" } else { kind(run[0]) };
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
        // No document may have it, not even escaped.
        '\0' => out.push('\u{FFFD}'),
        c => out.push(c),
    }
}
