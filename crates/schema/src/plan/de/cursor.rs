//! A position in JSON text and its depth, which is limited, with escapes in strings and the skipping of values.

use std::borrow::Cow;

use super::super::node::Plan;
use super::super::plan_error::PlanError;
use super::super::special;

/// A position in JSON text. It moves past a value only after the value was read and accepted, and it moves into arrays
/// and objects.
pub(in super::super) struct Cursor<'p, 'de> {
    pub(super) plan: &'p Plan,
    bytes: &'de [u8],
    /// The same as text, if validating all of it once is cheaper than validating each string.
    text: Option<&'de str>,
    position: usize,
    /// The number of open arrays and objects.
    pub(super) depth: u8,
    /// Set permanently by the first error, since a `Deserialize` may swallow the error and continue. Not set if the
    /// value was validated by other means.
    failed: bool,
    /// True if the value is absent, which an option reads as `None`.
    is_absent: bool,
    /// A buffer for strings with escapes.
    scratch: String,
    /// The offsets of floats that were read as integers: whole numbers that are written as floats, or are wide. `None`
    /// if the value is not known to match its schema, so that floats must not be read as integers.
    pub(in super::super) whole: Option<Vec<usize>>,
}

/// The maximum depth, the same as that of `serde_json`.
const MAX_DEPTH: u8 = 127;

/// From this length on it is cheaper to validate the UTF-8 of the whole text.
const LONG: usize = 64;

impl<'p, 'de> Cursor<'p, 'de> {
    #[inline]
    pub(in super::super) fn new(plan: &'p Plan, bytes: &'de [u8]) -> Result<Self, PlanError> {
        // Outside of strings JSON is ASCII, so invalid UTF-8 is always an error.
        let text = if bytes.len() < LONG { None } else { Some(str::from_utf8(bytes).map_err(|_| PlanError)?) };
        Ok(Self { text, ..Self::empty(plan, bytes) })
    }

    /// Creates the cursor of a value that is absent.
    pub(super) fn absent(plan: &'p Plan) -> Self {
        Self { is_absent: true, ..Self::empty(plan, b"") }
    }

    #[inline]
    fn empty(plan: &'p Plan, bytes: &'de [u8]) -> Self {
        let scratch = String::new();
        Self { plan, bytes, text: None, position: 0, depth: 0, failed: false, is_absent: false, scratch, whole: None }
    }

    #[inline]
    pub(super) fn is_absent(&self) -> bool {
        self.is_absent
    }

    /// Returns true if all of the text was read without an error.
    #[inline]
    pub(in super::super) fn finish(&mut self) -> bool {
        let is_at_end = |cursor: &Self| cursor.position == cursor.bytes.len();
        if !is_at_end(self) {
            self.peek();
        }
        is_at_end(self) && !self.failed
    }

    /// Returns true if the cursor is at the end of the text.
    pub(in super::super) fn is_at_end(&self) -> bool {
        self.position == self.bytes.len()
    }

    #[inline]
    pub(super) fn position(&self) -> usize {
        self.position
    }

    /// Returns the next byte after white space without consuming it, or [`END`] at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        match self.bytes.get(self.position) {
            Some(&byte) if byte > b' ' => byte,
            _ => self.peek_after_space(),
        }
    }

    #[inline(never)]
    fn peek_after_space(&mut self) -> u8 {
        let rest = &self.bytes[self.position..];
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        let length = rest.iter().position(|byte| !space(byte)).unwrap_or(rest.len());
        self.position += length;
        rest.get(length).copied().unwrap_or(END)
    }

    /// Moves past bytes that were inspected.
    #[inline]
    pub(super) fn skip(&mut self, n_bytes: usize) {
        self.position += n_bytes;
    }

    /// Moves to a position.
    #[inline]
    pub(super) fn seek(&mut self, position: usize) {
        self.position = position;
    }

    #[inline]
    pub(super) fn bytes(&self) -> &'de [u8] {
        self.bytes
    }

    /// Returns the text between `start` and the current position.
    pub(super) fn read_since(&self, start: usize) -> &'de [u8] {
        self.bytes.get(start..self.position).unwrap_or_default()
    }

    /// Returns the text that has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &'de [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// Returns the text of the next number, which may be malformed.
    pub(super) fn number_text(&self) -> &'de [u8] {
        let rest = self.rest();
        let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        &rest[..rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len())]
    }

    pub(super) fn boolean(&mut self) -> Result<bool, PlanError> {
        let value = self.peek() == b't';
        self.literal(if value { b"true" } else { b"false" }).map(|()| value)
    }

    #[inline]
    pub(super) fn literal(&mut self, literal: &[u8]) -> Result<(), PlanError> {
        self.peek();
        if !self.bytes[self.position..].starts_with(literal) {
            return Err(self.fail());
        }
        self.position += literal.len();
        Ok(())
    }

    /// Enters an array or an object.
    #[inline]
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), PlanError> {
        if self.peek() != bracket || self.depth == MAX_DEPTH {
            return Err(self.fail());
        }
        self.position += 1;
        self.depth += 1;
        Ok(())
    }

    /// Leaves an array or an object, if it ends here.
    #[inline]
    pub(super) fn close(&mut self, bracket: u8) -> Result<(), PlanError> {
        if self.peek() != bracket {
            return Err(self.fail());
        }
        self.position += 1;
        self.depth -= 1;
        Ok(())
    }

    /// Reads a string without escapes. Consumes nothing and reports no error if the next value is anything else.
    #[inline]
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        if self.peek() != b'"' {
            return None;
        }
        let start = self.position + 1;
        let end = start + special::position(self.bytes.get(start..)?);
        if *self.bytes.get(end)? != b'"' {
            return None;
        }
        let plain = match self.text {
            Some(text) => text.get(start..end)?,
            None => str::from_utf8(&self.bytes[start..end]).ok()?,
        };
        self.position = end + 1;
        Some(plain)
    }

    /// Reads a string and resolves its escapes.
    #[inline(never)]
    pub(super) fn any_string(&mut self) -> Result<Cow<'de, str>, PlanError> {
        if let Some(plain) = self.plain_string() {
            return Ok(Cow::Borrowed(plain));
        }
        let mut resolved = std::mem::take(&mut self.scratch);
        resolved.clear();
        let text = self.rest().strip_prefix(b"\"");
        match text.and_then(|text| resolve(text, &mut resolved)) {
            Some(length) => {
                self.position += 1 + length;
                Ok(Cow::Owned(resolved))
            }
            None => Err(self.fail()),
        }
    }

    /// Returns the buffer for strings with escapes.
    #[inline]
    pub(super) fn give_back(&mut self, scratch: String) {
        self.scratch = scratch;
    }

    /// Marks the text as failed if `result` is an error, so that the error cannot be swallowed.
    #[inline]
    pub(super) fn poison_on_err<T>(&mut self, result: Result<T, PlanError>) -> Result<T, PlanError> {
        result.map_err(|PlanError| self.fail())
    }

    /// Returns true if the value was validated by other means, so that only its type can reject it.
    #[inline]
    pub(super) fn is_approved(&self) -> bool {
        self.whole.is_some()
    }

    #[cold]
    pub(super) fn fail(&mut self) -> PlanError {
        self.failed |= !self.is_approved();
        PlanError
    }
}

/// The byte that represents the end. JSON has no such byte outside of strings, and escapes it inside.
pub(super) const END: u8 = 0;

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
    let (unit, rest) = self::unit(text)?;
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

impl Cursor<'_, '_> {
    /// Moves past the next value.
    #[cold]
    pub(super) fn skip_value(&mut self) {
        if matches!(self.peek(), b'[' | b'{') {
            self.skip(1);
            self.skip_to_bracket();
        } else {
            self.skip_scalar();
        }
    }

    /// Moves past the end of the array or object that the cursor is in.
    #[cold]
    pub(super) fn leave(&mut self) {
        self.skip_to_bracket();
        self.depth = self.depth.saturating_sub(1);
    }

    /// Moves past the first bracket that closes what was open before.
    fn skip_to_bracket(&mut self) {
        let mut n_open = 1_usize;
        while n_open > 0 && !self.is_at_end() {
            match self.peek() {
                b'[' | b'{' => n_open += 1,
                b']' | b'}' => n_open -= 1,
                b',' | b':' => {}
                _ => {
                    self.skip_scalar();
                    continue;
                }
            }
            self.skip(1);
        }
    }

    fn skip_scalar(&mut self) {
        if self.peek() == b'"' && self.any_string().is_ok() {
            return;
        }
        let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let rest = self.rest();
        let length = rest.iter().position(|byte| !belongs(byte)).unwrap_or(rest.len());
        // At least one byte, so that a text that is not valid is read to its end.
        self.skip(length.max(1).min(rest.len()));
    }
}
