//! Search for the characters of a JSON string that need attention.

const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
const HIGHEST: u64 = LOWEST << 7;

/// Returns the first eight bytes as a little-endian word, padded with zeros.
#[inline]
pub(super) fn head(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// Returns the index of the first quote, backslash or control character, or the length if there is none.
#[inline]
pub fn position(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while rest.len() >= 8 {
        let found = in_head(head(rest));
        if found < 8 {
            return bytes.len() - rest.len() + found;
        }
        rest = &rest[8..];
    }
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '));
    bytes.len() - rest.len() + found.unwrap_or(rest.len())
}

/// Does the same for the bytes of one word. Returns 8 if there is none.
#[inline]
pub(super) fn in_head(head: u64) -> usize {
    let equal = |byte: u8| {
        let differs = head ^ (LOWEST * u64::from(byte));
        differs.wrapping_sub(LOWEST) & !differs
    };
    let control = head.wrapping_sub(LOWEST * u64::from(b' ')) & !head;
    // A borrow can only set bits after the first one that is set correctly.
    let found = (equal(b'"') | equal(b'\\') | control) & HIGHEST;
    (found.trailing_zeros() / 8) as usize
}
