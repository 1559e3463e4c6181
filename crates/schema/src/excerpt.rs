//! Foreign text in messages: quoted, shortened, and without characters that forge or hide a line; and the JSON
//! Pointers of the parts of a value.

use std::fmt;
use std::fmt::Write as _;

/// The maximum number of characters that a message repeats of a foreign text.
const MAX_SHOWN: usize = 120;
const MAX_POINTER: usize = 240;
/// Room for a namespace and a name of 128 bytes each, and a version.
const MAX_ID: usize = 376;

/// Quotes a foreign text for a message: shortened, and without characters that forge or hide a line.
#[doc(hidden)]
pub fn quoted(text: &str) -> String {
    format!("`{}`", shown(text, MAX_SHOWN))
}

/// Shortens a pointer for a message.
#[doc(hidden)]
pub fn shown_pointer(pointer: &str) -> String {
    shown(pointer, MAX_POINTER)
}

/// Shortens an id for a message. A valid id is never shortened.
#[doc(hidden)]
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
