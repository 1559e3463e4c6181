//! Finds the end of a JSON value without parsing it.
//!
//! For valid JSON, the result is exactly the value. Invalid JSON is not always detected.

use toolkit_schema::plan::special;

/// The value and the rest of the text.
type Found<'t> = (&'t [u8], &'t [u8]);

/// Returns the text without leading whitespace. Most clients do not write any.
#[inline]
pub(super) fn after_space(text: &[u8]) -> &[u8] {
    if text.first().is_none_or(|byte| *byte > b' ') {
        return text;
    }
    let length = text.iter().position(|byte| !matches!(byte, b' ' | b'\n' | b'\t' | b'\r'));
    &text[length.unwrap_or(text.len())..]
}

/// Splits off a key without escapes and its colon, and returns the key without its quotes.
pub(super) fn key(text: &[u8]) -> Option<Found<'_>> {
    let (key, rest) = string(text)?;
    Some((key, after_space(after_space(rest).strip_prefix(b":")?)))
}

/// Splits off a string without escapes, and returns it without its quotes.
pub(super) fn string(text: &[u8]) -> Option<Found<'_>> {
    let text = after_space(text).strip_prefix(b"\"")?;
    let (string, rest) = text.split_at(special::position(text));
    Some((string, rest.strip_prefix(b"\"")?))
}

/// Splits off an object.
pub(super) fn object(text: &[u8]) -> Option<Found<'_>> {
    if text.first() != Some(&b'{') {
        return None;
    }
    // A stack of open objects and arrays, one bit each, the innermost in the lowest bit, with a one above them.
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

/// The bytes that are relevant for the end of an object. A lookup is faster than five comparisons.
const IS_STRUCTURE: [bool; 256] = {
    let mut is_structure = [false; 256];
    let mut idx = 0;
    while idx < b"\"{}[]".len() {
        is_structure[b"\"{}[]"[idx] as usize] = true;
        idx += 1;
    }
    is_structure
};

/// Returns the position of the closing quote of the string whose text starts at `start`.
fn string_end(text: &[u8], start: usize) -> Option<usize> {
    let mut place = start;
    loop {
        place += special::position(text.get(place..)?);
        match text.get(place)? {
            b'"' => return Some(place),
            b'\\' => place += 2,
            // Control characters have to be escaped.
            _ => return None,
        }
    }
}
