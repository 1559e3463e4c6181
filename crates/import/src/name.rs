//! Rust names for tools and types, suggestions for misspelled ones, and untrusted descriptions as doc comments.

use proc_macro2::{Ident, Span};

/// Returns the function name of a tool in snake case: `create-issue`, `issues/create` and `createIssue` become
/// `create_issue`, `issues_create` and `create_issue`.
///
/// Characters other than ASCII letters and digits become `_`. A leading digit gets the prefix `_`, and a keyword the suffix
/// `_`.
pub(crate) fn function(name: &str) -> String {
    let mut snake = String::new();
    let mut last_is_lower = false;
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() { c } else { '_' };
        if c.is_ascii_uppercase() && last_is_lower {
            snake.push('_');
        }
        last_is_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        snake.push(c.to_ascii_lowercase());
    }
    if !snake.contains(|c: char| c != '_') {
        snake = format!("tool{snake}");
    }
    if snake.starts_with(|c: char| c.is_ascii_digit()) {
        snake.insert(0, '_');
    }
    // `syn` does not treat this keyword of edition 2024 as one.
    if snake == "gen" || syn::parse_str::<Ident>(&snake).is_err() {
        snake.push('_');
    }
    snake
}

/// Returns the type name in camel case: `rich-text_request` becomes `RichTextRequest`.
pub(crate) fn type_name(name: &str) -> String {
    let words = name.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

pub(crate) fn ident(name: &str) -> Ident {
    Ident::new(name, Span::call_site())
}

/// Returns the lines of a doc comment as plain text.
///
/// Lines are not indented or fenced, since rustdoc would compile and run them as doc tests. Markdown is escaped, and
/// invisible characters are removed.
pub(crate) fn doc_text(description: &str) -> String {
    let mut lines: Vec<String> = description.lines().map(doc_line).collect();
    lines.truncate(MAX_LINES);
    lines.join("\n").trim().to_owned()
}

/// The maximum number of lines, since some descriptions are long prompts.
const MAX_LINES: usize = 200;

fn doc_line(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 1);
    // The leading space of a doc comment.
    text.push(' ');
    for c in line.trim().chars().filter(|&c| is_visible(c)) {
        if matches!(c, '[' | ']' | '<' | '>' | '`' | '~' | '\\' | '*' | '_' | '|') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// Removes backticks and invisible characters from a name.
pub(crate) fn visible(name: &str) -> String {
    name.chars().filter(|&c| is_visible(c) && c != '`').collect()
}

fn is_visible(c: char) -> bool {
    let is_invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !is_invisible
}

/// Returns ``; did you mean `x`?`` for the most similar candidate, if one is similar enough.
pub(crate) fn did_you_mean<'a>(typed: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    let distance = |candidate: &&str| strsim::osa_distance(typed, candidate);
    let near = |candidate: &&str| distance(candidate) <= candidate.len() / 3 + 1;
    candidates.filter(near).min_by_key(distance).map(|name| format!("; did you mean `{name}`?"))
}
