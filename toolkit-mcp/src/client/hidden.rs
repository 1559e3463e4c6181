//! Characters that a person who reads a text does not see, and a model does.

use serde_json::Value;

/// The first text of a tool, as it was listed, that has a character which hides or turns round what is written: where
/// it is, as a JSON Pointer, and the character.
///
/// All texts are looked at, those of the schemas too: a model reads them as well.
pub(super) fn find_hidden(listed: &Value) -> Option<(String, char)> {
    match listed {
        Value::String(text) => first_hidden(text).map(|c| (String::new(), c)),
        Value::Array(items) => items.iter().enumerate().find_map(|(idx, item)| below(&idx.to_string(), item)),
        Value::Object(fields) => fields.iter().find_map(|(name, value)| match first_hidden(name) {
            Some(c) => Some((String::new(), c)),
            None => below(name, value),
        }),
        _ => None,
    }
}

fn below(token: &str, value: &Value) -> Option<(String, char)> {
    let (pointer, c) = find_hidden(value)?;
    Some((format!("/{}{pointer}", token.replace('~', "~0").replace('/', "~1")), c))
}

fn first_hidden(text: &str) -> Option<char> {
    let mut before = '\0';
    for c in text.chars() {
        if is_hidden(c) && !(is_joiner(c) && is_joined(before)) {
            return Some(c);
        }
        before = c;
    }
    None
}

/// Characters of no width, those that set the direction of a text, and tags, which spell invisible letters.
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{00ad}'
            | '\u{061c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
            | '\u{e0100}'..='\u{e01ef}'
    )
}

fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}')
}

/// Whether a joiner may stand behind it: Persian and the scripts of India cannot be written without, nor can many emoji.
fn is_joined(c: char) -> bool {
    (c.is_alphabetic() && !c.is_ascii())
        || matches!(c, '\u{2190}'..='\u{2bff}' | '\u{fe0f}' | '\u{1f000}'..='\u{1faff}')
}
