//! What strangers wrote of their tools, as doc comments: text, whatever it looks like.

/// The lines of a doc comment.
///
/// What would be more than text is not: no line is indented or fenced, since rustdoc would compile and run it; brackets
/// are no links; and what nobody sees is left out.
pub(crate) fn text(description: &str) -> String {
    let mut lines: Vec<String> = description.lines().map(line).collect();
    lines.truncate(MAX_LINES);
    lines.join("\n").trim().to_owned()
}

/// Descriptions are prompts, some of them pages long.
const MAX_LINES: usize = 200;

fn line(line: &str) -> String {
    let mut text = String::with_capacity(line.len() + 1);
    // A space of rustdoc's own, as in comments that people write.
    text.push(' ');
    for c in line.trim().chars().filter(|&c| is_visible(c)) {
        if matches!(c, '[' | ']' | '<' | '>' | '`' | '~' | '\\' | '*' | '_' | '|') {
            text.push('\\');
        }
        text.push(c);
    }
    text
}

/// A name, without what would end it or is not seen.
pub(crate) fn visible(name: &str) -> String {
    name.chars().filter(|&c| is_visible(c) && c != '`').collect()
}

fn is_visible(c: char) -> bool {
    let is_invisible = matches!(c, '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e0fff}');
    !c.is_control() && !is_invisible
}
