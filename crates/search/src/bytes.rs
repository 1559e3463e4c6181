//! Serialization of numbers and strings.

mod open_error;

pub use self::open_error::OpenError;
pub(crate) use self::open_error::{Damage, FORMAT};

/// Writes a variable-length number: seven bits in each byte, the lowest first, and a bit that is set if more bytes
/// follow.
#[inline]
pub(crate) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

pub(super) fn put_text(out: &mut Vec<u8>, text: &str) {
    put_number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

/// A reader of serialized data.
pub(crate) struct Bytes<'b> {
    /// The bytes left.
    pub(super) rest: &'b [u8],
}

impl<'b> Bytes<'b> {
    pub(super) fn new(rest: &'b [u8]) -> Self {
        Self { rest }
    }

    #[inline]
    pub(crate) fn number(&mut self) -> Result<u64, Damage> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.rest.split_first().ok_or(Damage::Content)?;
            self.rest = rest;
            let bits = u64::from(byte & 0x7f);
            if bits << shift >> shift != bits {
                break;
            }
            number |= bits << shift;
            if *byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Damage::Content)
    }

    /// Reads a number of at most `most`.
    #[inline]
    pub(crate) fn number_to(&mut self, most: usize) -> Result<usize, Damage> {
        let number = usize::try_from(self.number()?).map_err(|_| Damage::Content)?;
        if number <= most { Ok(number) } else { Err(Damage::Content) }
    }

    /// Reads the number of elements that take at least one byte each, so that it cannot exceed the number of bytes
    /// left.
    pub(crate) fn count(&mut self) -> Result<usize, Damage> {
        self.number_to(self.rest.len())
    }

    pub(crate) fn text(&mut self) -> Result<&'b str, Damage> {
        let len = self.count()?;
        let (text, rest) = self.rest.split_at_checked(len).ok_or(Damage::Content)?;
        self.rest = rest;
        std::str::from_utf8(text).map_err(|_| Damage::Content)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Damage::Content)?;
        self.rest = rest;
        Ok(*array)
    }

    /// Returns an error if any bytes are left.
    pub(super) fn end(self) -> Result<(), Damage> {
        if self.rest.is_empty() { Ok(()) } else { Err(Damage::Content) }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bytes, put_number, put_text};

    #[test]
    fn a_number_is_read_as_it_was_written() {
        let numbers = [0, 1, 0x7f, 0x80, 0x3fff, 0x4000, u64::from(u32::MAX), u64::MAX - 1, u64::MAX];
        let mut out = Vec::new();
        numbers.iter().for_each(|number| put_number(&mut out, *number));
        let mut bytes = Bytes::new(&out);
        for number in numbers {
            assert_eq!(bytes.number().ok(), Some(number));
        }
        assert!(bytes.end().is_ok());
    }

    #[test]
    fn a_number_that_has_no_end_or_more_than_64_bits_is_damage() {
        for forged in
            [&[][..], &[0x80], &[0xff; 9], &[0xff; 11], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2]]
        {
            assert!(Bytes::new(forged).number().is_err(), "{forged:?}");
        }
    }

    #[test]
    fn a_text_longer_than_the_bytes_left_is_damage() {
        let mut out = Vec::new();
        put_text(&mut out, "größe");
        assert_eq!(Bytes::new(&out).text().ok(), Some("größe"));
        for end in 0..out.len() {
            assert!(Bytes::new(&out[..end]).text().is_err(), "{end} bytes");
        }
        // The first byte of a character of two.
        assert!(Bytes::new(&[1, 0xc3]).text().is_err());
    }
}
