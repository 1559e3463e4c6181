//! How far a value of JSON text reaches, found without reading what is in it.
//!
//! Of JSON that is sound, exactly the value is found. Whether it is sound, only who reads the value can tell.

use toolkit_schema::plan::special;

/// What is found, and what comes behind it.
type Found<'t> = (&'t [u8], &'t [u8]);

/// Returns the text without leading white space. Most clients write none.
#[inline]
pub(super) fn after_space(text: &[u8]) -> &[u8] {
    if text.first().is_none_or(|byte| *byte > b' ') {
        return text;
    }
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
        let byte = *text.get(place)?;
        if IS_STRUCTURE[usize::from(byte)] {
            match byte {
                b'"' => place = string_end(text, place + 1)?,
                b'{' | b'[' => {
                    if open.leading_zeros() == 0 {
                        return None;
                    }
                    open = open << 1 | u64::from(byte == b'{');
                }
                _ => {
                    if open & 1 != u64::from(byte == b'}') {
                        return None;
                    }
                    open >>= 1;
                    if open == 1 {
                        return Some(text.split_at(place + 1));
                    }
                }
            }
        }
        place += 1;
    }
}

/// The bytes that decide where an object ends. One look-up is faster than five comparisons.
const IS_STRUCTURE: [bool; 256] = {
    let mut is_structure = [false; 256];
    let mut idx = 0;
    while idx < b"\"{}[]".len() {
        is_structure[b"\"{}[]"[idx] as usize] = true;
        idx += 1;
    }
    is_structure
};

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
