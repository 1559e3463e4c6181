//! Conversion of untrusted descriptions to doc comments.

/// Returns the lines of a doc comment as plain text.
///
/// Lines are not indented or fenced, since rustdoc would compile and run them as doc tests. Markdown is escaped, and
/// invisible characters are removed.
pub(crate) fn text(description: &str) -> String {
    let mut lines: Vec<String> = description.lines().map(line).collect();
    lines.truncate(MAX_LINES);
    lines.join("\n").trim().to_owned()
}

/// The maximum number of lines, since some descriptions are long prompts.
const MAX_LINES: usize = 200;

fn line(line: &str) -> String {
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
