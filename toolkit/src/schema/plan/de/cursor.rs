//! JSON text, and how far it has been read.

use std::borrow::Cow;

use super::super::{Refused, special};
use super::escapes;

/// A place in JSON text. It moves past a value only once that is read and approved of, and on to the inside of an
/// array or an object.
pub(in super::super) struct Cursor<'de> {
    text: &'de str,
    place: usize,
    /// How many arrays and objects are open.
    depth: u8,
    /// Set for good once something went wrong: who asked may swallow the error and go on.
    failed: bool,
    /// Room for strings with escapes.
    scratch: String,
}

/// How deep `serde_json` reads.
const MAX_DEPTH: u8 = 127;

impl<'de> Cursor<'de> {
    #[inline]
    pub(in super::super) fn new(text: &'de str) -> Self {
        Cursor { text, place: 0, depth: 0, failed: false, scratch: String::new() }
    }

    /// Whether all of the text has been read, and nothing went wrong on the way.
    #[inline]
    pub(in super::super) fn is_through(&mut self) -> bool {
        self.peek() == END && self.place == self.text.len() && !self.failed
    }

    #[inline]
    pub(super) fn place(&self) -> usize {
        self.place
    }

    /// The next byte that is no white space, which stays there; [`END`] at the end.
    #[inline]
    pub(super) fn peek(&mut self) -> u8 {
        match self.text.as_bytes().get(self.place) {
            Some(&byte) if byte > b' ' => byte,
            _ => self.peek_after_space(),
        }
    }

    #[inline(never)]
    fn peek_after_space(&mut self) -> u8 {
        let rest = &self.text.as_bytes()[self.place..];
        let space = |byte: &u8| matches!(byte, b' ' | b'\n' | b'\t' | b'\r');
        let length = rest.iter().position(|byte| !space(byte)).unwrap_or(rest.len());
        self.place += length;
        rest.get(length).copied().unwrap_or(END)
    }

    /// Moves past the byte that `peek` saw.
    #[inline]
    pub(super) fn step(&mut self) {
        self.place += 1;
    }

    /// What has not been read.
    #[inline]
    pub(super) fn rest(&self) -> &'de str {
        &self.text[self.place..]
    }

    /// Moves past the first `length` bytes of the rest, and gives them.
    #[inline]
    pub(super) fn take(&mut self, length: usize) -> &'de str {
        let taken = &self.text[self.place..self.place + length];
        self.place += length;
        taken
    }

    pub(super) fn boolean(&mut self) -> Result<bool, Refused> {
        let value = self.peek() == b't';
        self.literal(if value { b"true" } else { b"false" }).map(|()| value)
    }

    #[inline]
    pub(super) fn literal(&mut self, literal: &[u8]) -> Result<(), Refused> {
        self.peek();
        if !self.text.as_bytes()[self.place..].starts_with(literal) {
            return Err(self.refuse());
        }
        self.place += literal.len();
        Ok(())
    }

    /// Goes into an array or an object.
    #[inline]
    pub(super) fn open(&mut self, bracket: u8) -> Result<(), Refused> {
        if self.peek() != bracket || self.depth == MAX_DEPTH {
            return Err(self.refuse());
        }
        self.place += 1;
        self.depth += 1;
        Ok(())
    }

    /// Goes out of an array or an object, if it ends here.
    #[inline]
    pub(super) fn close(&mut self, bracket: u8) -> Result<(), Refused> {
        if self.peek() != bracket {
            return Err(self.refuse());
        }
        self.place += 1;
        self.depth -= 1;
        Ok(())
    }

    /// A string without its quotes, its escapes resolved.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Cow<'de, str>, Refused> {
        if self.peek() != b'"' {
            return Err(self.refuse());
        }
        let text = self.text;
        let start = self.place + 1;
        let bytes = text.as_bytes();
        let end = start + special::position(&bytes[start..]);
        match bytes.get(end) {
            Some(b'"') => {
                self.place = end + 1;
                Ok(Cow::Borrowed(&text[start..end]))
            }
            _ => self.string_with_escapes(start),
        }
    }

    #[inline(never)]
    fn string_with_escapes(&mut self, start: usize) -> Result<Cow<'de, str>, Refused> {
        let mut resolved = std::mem::take(&mut self.scratch);
        resolved.clear();
        let Some(length) = escapes::resolve(&self.text[start..], &mut resolved) else {
            return Err(self.refuse());
        };
        self.place = start + length;
        Ok(Cow::Owned(resolved))
    }

    /// Takes back the room for strings with escapes.
    #[inline]
    pub(super) fn give_back(&mut self, scratch: String) {
        self.scratch = scratch;
    }

    /// Makes sure that an error stays one.
    #[inline]
    pub(super) fn sure<T>(&mut self, result: Result<T, Refused>) -> Result<T, Refused> {
        result.map_err(|Refused| self.refuse())
    }

    #[cold]
    pub(super) fn refuse(&mut self) -> Refused {
        self.failed = true;
        Refused
    }
}

/// What is peeked at where there is nothing more: no JSON has it outside of strings, and inside it is escaped.
const END: u8 = 0;
