//! Foreign text in messages: quoted, shortened, and without characters that forge or hide a line; and its invisible
//! characters and those that change the order of the text, which a model reads and a person does not see.

use std::fmt;
use std::fmt::Write as _;

/// The maximum number of characters that a message repeats of a foreign text.
const MAX_SHOWN: usize = 120;
const MAX_POINTER: usize = 240;
/// Room for a namespace and a name of 128 bytes each, and a version.
const MAX_ID: usize = 376;

/// Quotes a foreign text for a message: shortened, and without characters that forge or hide a line.
pub fn quoted(text: &str) -> String {
    format!("`{}`", shown(text, MAX_SHOWN))
}

/// Shortens a pointer for a message.
pub fn shown_pointer(pointer: &str) -> String {
    shown(pointer, MAX_POINTER)
}

/// Shortens an id for a message. A valid id is never shortened.
pub fn shown_id(id: &(impl fmt::Display + ?Sized)) -> String {
    shown(&id.to_string(), MAX_ID)
}

fn shown(text: &str, max: usize) -> String {
    let mut out = String::new();
    for (idx, c) in text.chars().enumerate() {
        if idx == max {
            out.push('…');
            break;
        }
        match c {
            '\'' | '"' | '\\' => out.push(c),
            // `escape_debug` also escapes characters that are invisible or change the direction of text.
            c => write!(out, "{}", c.escape_debug()).expect("a string takes every character"),
        }
    }
    out
}

/// Returns each invisible character of a text with its byte offset.
pub fn hidden(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut before = '\0';
    text.char_indices().filter(move |(_, c)| {
        let behind = std::mem::replace(&mut before, *c);
        is_invisible(*c) && !(is_joiner(*c) && joins_behind(behind))
    })
}

/// Returns a text in which each invisible character is written as `\u{…}`, to show to a person.
pub fn escaped(text: &str) -> String {
    let hidden: Vec<usize> = hidden(text).map(|(at, _)| at).collect();
    let mut escaped = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        match hidden.binary_search(&at) {
            Ok(_) => escaped.extend(c.escape_unicode()),
            Err(_) => escaped.push(c),
        }
    }
    escaped
}

/// Returns true for a character that has no glyph or changes the order of the text, but for line ends and tabs.
///
/// A joiner is one, although some texts need it: see [`hidden`].
pub fn is_invisible(c: char) -> bool {
    match c {
        '\n' | '\r' | '\t' => false,
        // Variation selectors that choose between a symbol and its emoji.
        '\u{FE0E}' | '\u{FE0F}' => false,
        '\u{00AD}' | '\u{034F}' | '\u{061C}' | '\u{115F}' | '\u{1160}' | '\u{17B4}' | '\u{17B5}' | '\u{3164}'
        | '\u{FFA0}' => true,
        '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' => true,
        '\u{FE00}'..='\u{FE0D}' | '\u{FEFF}' | '\u{FFF0}'..='\u{FFFB}' | '\u{1D173}'..='\u{1D17A}' => true,
        '\u{E0000}'..='\u{E0FFF}' => true,
        c => c.is_control(),
    }
}

/// Returns true for the two characters that join their neighbours, or keep them apart.
pub fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200C}' | '\u{200D}')
}

/// Returns true if a joiner may follow the character. Persian, the scripts of India and many emoji need joiners.
fn joins_behind(c: char) -> bool {
    (c.is_alphabetic() && !c.is_ascii())
        || matches!(c, '\u{2190}'..='\u{2BFF}' | '\u{FE0F}' | '\u{1F000}'..='\u{1FAFF}')
}

/// Describes the effect of an invisible character.
pub fn effect(c: char) -> &'static str {
    match c {
        '\u{E0000}'..='\u{E007F}' => "a tag character, which spells a hidden text",
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{200E}' | '\u{200F}' | '\u{061C}' => {
            "it changes the direction of the text"
        }
        '\u{FE00}'..='\u{FE0D}' | '\u{E0100}'..='\u{E01EF}' => "a variation selector, which can carry hidden bytes",
        '\u{2028}' | '\u{2029}' => "it ends a line",
        c if c.is_control() => "a control character",
        _ => "it has no width",
    }
}
