//! Finding what does not stand for itself in a JSON string.

const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
const HIGHEST: u64 = LOWEST << 7;

/// The first eight bytes, the first of them lowest; nought for each that is not there.
#[inline]
pub(super) fn head(bytes: &[u8]) -> u64 {
    match bytes.first_chunk() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    }
}

/// The place of the first quote, backslash or control character, or the length where there is none.
#[inline]
pub(crate) fn position(bytes: &[u8]) -> usize {
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

/// The same for the bytes of one word: 8 where there is none.
#[inline]
pub(super) fn in_head(head: u64) -> usize {
    let equal = |byte: u8| {
        let differs = head ^ (LOWEST * u64::from(byte));
        differs.wrapping_sub(LOWEST) & !differs
    };
    let control = head.wrapping_sub(LOWEST * u64::from(b' ')) & !head;
    // A borrow can set bits only behind the first that is rightly set.
    let found = (equal(b'"') | equal(b'\\') | control) & HIGHEST;
    (found.trailing_zeros() / 8) as usize
}
