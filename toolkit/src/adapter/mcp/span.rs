//! How far a value of JSON text reaches, found without reading what is in it.
//!
//! Of JSON that is sound, exactly the value is found. Whether it is sound, only who reads the value can tell.

use crate::schema::plan::special;

/// What is found, and what comes behind it.
type Found<'t> = (&'t [u8], &'t [u8]);

/// The text without the white space before it.
pub(super) fn after_space(text: &[u8]) -> &[u8] {
    let length = text.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
    &text[length.unwrap_or(text.len())..]
}

/// A key without escapes, less its quotes; the value is next.
pub(super) fn key(text: &[u8]) -> Option<Found<'_>> {
    let (key, rest) = string(text)?;
    Some((key, after_space(after_space(rest).strip_prefix(b":")?)))
}

/// A string without escapes, less its quotes.
pub(super) fn string(text: &[u8]) -> Option<Found<'_>> {
    let text = after_space(text).strip_prefix(b"\"")?;
    let (string, rest) = text.split_at(special::position(text));
    Some((string, rest.strip_prefix(b"\"")?))
}

/// An object.
pub(super) fn object(text: &[u8]) -> Option<Found<'_>> {
    if text.first() != Some(&b'{') {
        return None;
    }
    // What is open, a bit each, the innermost lowest; above them is a one.
    let mut open: u64 = 1;
    let mut place = 0;
    loop {
        match text.get(place)? {
            b'"' => place = string_end(text, place + 1)?,
            bracket @ (b'{' | b'[') => {
                if open.leading_zeros() == 0 {
                    return None;
                }
                open = open << 1 | u64::from(*bracket == b'{');
            }
            bracket @ (b'}' | b']') => {
                if open & 1 != u64::from(*bracket == b'}') {
                    return None;
                }
                open >>= 1;
                if open == 1 {
                    return Some(text.split_at(place + 1));
                }
            }
            _ => {}
        }
        place += 1;
    }
}

/// The place of the quote that ends the string whose text begins at `start`.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut place = start;
    loop {
        place += special::position(text.get(place..)?);
        match text.get(place)? {
            b'"' => return Some(place),
            b'\\' => place += 2,
            // It has to be escaped.
            _ => return None,
        }
    }
}
