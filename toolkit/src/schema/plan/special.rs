//! Finding what does not stand for itself in a JSON string.

const LOWEST: u64 = u64::from_ne_bytes([1; 8]);
const HIGHEST: u64 = LOWEST << 7;

/// The place of the first quote, backslash or control character, or the length where there is none.
#[inline]
pub(super) fn position(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    // Eight bytes at a time, in one word.
    while let Some((eight, more)) = rest.split_first_chunk() {
        let found = special(u64::from_le_bytes(*eight));
        if found != 0 {
            return bytes.len() - rest.len() + (found.trailing_zeros() / 8) as usize;
        }
        rest = more;
    }
    let found = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..b' '));
    bytes.len() - rest.len() + found.unwrap_or(rest.len())
}

/// A word whose lowest bit that is set is in the first special byte. A borrow can set bits only after it.
#[inline]
fn special(word: u64) -> u64 {
    let equal = |byte: u8| {
        let differs = word ^ (LOWEST * u64::from(byte));
        differs.wrapping_sub(LOWEST) & !differs
    };
    let control = word.wrapping_sub(LOWEST * u64::from(b' ')) & !word;
    (equal(b'"') | equal(b'\\') | control) & HIGHEST
}
