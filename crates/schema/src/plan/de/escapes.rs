//! Escapes in JSON strings.

use super::super::special;

/// Appends the string at the start of `text`, up to its closing quote, to `out`. Returns its length in bytes, including
/// the quote, or `None` if the string is not terminated or has an invalid escape.
pub(super) fn resolve(text: &[u8], out: &mut String) -> Option<usize> {
    let mut rest = text;
    loop {
        let (plain, special) = rest.split_at(special::position(rest));
        out.push_str(str::from_utf8(plain).ok()?);
        match special {
            [b'"', ..] => return Some(text.len() - special.len() + 1),
            [b'\\', b'u', digits @ ..] => {
                let (c, more) = character(digits)?;
                out.push(c);
                rest = more;
            }
            [b'\\', escaped, more @ ..] => {
                out.push(match escaped {
                    b'"' => '"',
                    b'\\' => '\\',
                    b'/' => '/',
                    b'b' => '\u{8}',
                    b'f' => '\u{c}',
                    b'n' => '\n',
                    b'r' => '\r',
                    b't' => '\t',
                    _ => return None,
                });
                rest = more;
            }
            _ => return None,
        }
    }
}

/// Parses the character of a `\u` escape, or of a surrogate pair, and returns the rest of the text.
fn character(text: &[u8]) -> Option<(char, &[u8])> {
    let (unit, rest) = unit(text)?;
    if !(0xD800..=0xDBFF).contains(&unit) {
        return Some((char::from_u32(unit)?, rest));
    }
    let (low, rest) = self::unit(rest.strip_prefix(b"\\u")?)?;
    let low = low.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
    Some((char::from_u32(0x10000 + ((unit - 0xD800) << 10 | low))?, rest))
}

/// Parses four hexadecimal digits and returns the rest of the text.
fn unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, rest) = text.split_first_chunk::<4>()?;
    let unit = digits.iter().try_fold(0, |unit, digit| Some(unit << 4 | char::from(*digit).to_digit(16)?))?;
    Some((unit, rest))
}
