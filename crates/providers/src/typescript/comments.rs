//! Texts of tools as comments. No text can end its comment.

use super::ty::Comment;
use toolkit::schema::excerpt::escaped;

/// The maximum number of characters of a first sentence.
const MAX_SENTENCE: usize = 200;

/// Returns a comment on one line, without its delimiters.
pub(super) fn line(comment: &Comment) -> String {
    let notes = comment.notes.join(" ");
    let text = match (notes.is_empty(), comment.text.is_empty()) {
        (true, _) => comment.text.clone(),
        (false, true) => notes,
        (false, false) => format!("{notes}; {}", comment.text),
    };
    one_line(&text)
}

/// Returns text on one line.
pub(super) fn one_line(text: &str) -> String {
    // All characters that end a line are white space.
    let words: Vec<&str> = text.split_whitespace().collect();
    without_directive(escaped(&words.join(" ")))
}

/// Returns a block comment on one line.
pub(super) fn block(text: &str) -> String {
    format!("/* {} */", closed(text))
}

/// Returns a documentation comment with the lines of `text`.
pub(super) fn documentation(text: &str) -> String {
    let lines = text.split(['\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}']);
    let lines: Vec<String> = lines.map(|line| without_directive(escaped(line.trim_end()))).collect();
    let mut text = String::new();
    for line in &lines {
        // Several empty lines are like one.
        if !(line.is_empty() && (text.is_empty() || text.ends_with("\n\n"))) {
            text.push_str(line);
            text.push('\n');
        }
    }
    format!("/** {} */", closed(text.trim()))
}

/// Replaces the end of a block comment.
fn closed(text: &str) -> String {
    text.replace("*/", "*\\/")
}

/// Prevents that a comment is read as an instruction to the compiler, such as `@ts-ignore`.
fn without_directive(text: String) -> String {
    if text.trim_start_matches([' ', '\t', '/', '*']).starts_with('@') { format!("- {text}") } else { text }
}

/// Returns the first sentence of a text, of at most 200 characters.
pub(super) fn first_sentence(text: &str) -> String {
    let text = one_line(text);
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        let after = at + c.len_utf8();
        let is_end = match c {
            '。' | '！' | '？' => true,
            '.' | '!' | '?' => text[after..].starts_with(' ') && !is_abbreviated(&text[..after]),
            _ => false,
        };
        if is_end {
            end = after;
            break;
        }
    }
    let sentence = &text[..end];
    match sentence.char_indices().nth(MAX_SENTENCE) {
        None => sentence.to_owned(),
        Some((most, _)) => {
            let cut = sentence[..most].rfind(' ').unwrap_or(most);
            format!("{}…", &sentence[..cut])
        }
    }
}

/// Returns true if the period at the end is that of an abbreviation or of a number in a list.
fn is_abbreviated(text: &str) -> bool {
    let word = text.rsplit(' ').next().unwrap_or_default().trim_start_matches('(').to_ascii_lowercase();
    let is_number = word.trim_end_matches('.').bytes().all(|byte| byte.is_ascii_digit());
    is_number || matches!(word.as_str(), "e.g." | "i.e." | "etc." | "vs." | "cf.")
}
