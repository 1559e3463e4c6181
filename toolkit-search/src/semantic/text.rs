//! The text of a tool for embedding.

use super::super::summary::summary_text;
use toolkit::tool::Tool;

/// The maximum length of the text in bytes; longer texts do not improve the results.
const MAX_LEN: usize = 2048;

/// Returns the text of a tool: its namespace and name split into words, its summary, and the names of its arguments.
///
/// The text depends on nothing but the tool. Only the first paragraph of the description is used: the others are about
/// calling the tool, and would have the same weight.
pub(super) fn text_of(tool: &Tool) -> String {
    let mut text = in_words(tool.id().namespace().unwrap_or_default());
    push(&mut text, " ", &in_words(tool.name()));
    push(&mut text, ": ", &summary_text(tool, tool.meta().as_ref()));
    let arguments = tool.input().as_value()["properties"].as_object();
    let mut arguments: Vec<&String> = arguments.into_iter().flat_map(|arguments| arguments.keys()).collect();
    // The order must not depend on the features of `serde_json`.
    arguments.sort_unstable();
    for (nth, name) in arguments.into_iter().enumerate() {
        push(&mut text, if nth == 0 { " " } else { ", " }, &in_words(name));
        if text.len() >= MAX_LEN {
            break;
        }
    }
    text.truncate(text.floor_char_boundary(MAX_LEN));
    text
}

fn push(text: &mut String, between: &str, more: &str) {
    if !text.is_empty() && !more.is_empty() {
        text.push_str(between);
    }
    text.push_str(more);
}

/// Splits a name into words: `sendHTTPRequest_v2` becomes `send HTTP Request v2`.
fn in_words(name: &str) -> String {
    let mut words = String::with_capacity(name.len() + 8);
    let mut before = ' ';
    let mut chars = name.chars().peekable();
    while let Some(c) = chars.next() {
        let is_part = c.is_alphanumeric() || !c.is_ascii();
        let ends_word = before.is_lowercase() || before.is_numeric();
        let ends_acronym = before.is_uppercase() && chars.peek().is_some_and(|next| next.is_lowercase());
        if !is_part || (c.is_uppercase() && (ends_word || ends_acronym)) {
            words.push(' ');
        }
        if is_part {
            words.push(c);
        }
        before = c;
    }
    words.split_whitespace().collect::<Vec<_>>().join(" ")
}
