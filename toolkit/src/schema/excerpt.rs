//! Foreign text in messages: quoted, shortened, and without characters that forge or hide a line.

use std::fmt::{self, Write as _};

/// The longest text of somebody else's that a message repeats, in characters.
const MAX_SHOWN: usize = 120;
const MAX_POINTER: usize = 240;
/// A namespace and a name of 128 bytes each, and a version.
const MAX_ID: usize = 376;

/// Somebody else's text for a message: in quotes, no longer than anybody reads, without what forges or hides a line.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shown(text, MAX_SHOWN))
}

/// A pointer as a message repeats it.
pub(crate) fn shown_pointer(pointer: &str) -> String {
    shown(pointer, MAX_POINTER)
}

/// An id as a message repeats it: all of one that is sound, and the front of any other.
pub(crate) fn shown_id(id: &(impl fmt::Display + ?Sized)) -> String {
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
            // Also what turns or hides text: `escape_debug` leaves only what has a face.
            c => write!(out, "{}", c.escape_debug()).expect("a string takes every character"),
        }
    }
    out
}
