//! A scanner of JSON that finds the fields of objects in one pass.
//!
//! It accepts valid JSON only, and not all of it: no escapes in names, and no deep nesting. What it does not accept is
//! left to `serde_json`.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolkit_schema::plan::special;

// The text of JSON values, borrowed from a message.

/// The text of a JSON value, like [`RawValue`].
#[derive(Clone, Copy, Debug)]
pub struct JsonText<'m>(&'m str);

impl<'m> JsonText<'m> {
    /// Creates the text of a value that was read before.
    pub fn new(text: &'m str) -> Self {
        Self(text)
    }

    /// Returns the text.
    #[must_use]
    pub fn get(self) -> &'m str {
        self.0
    }
}

impl<'de: 'm, 'm> Deserialize<'de> for JsonText<'m> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        <&RawValue>::deserialize(deserializer).map(|value| Self(value.get()))
    }
}

/// Returns true for a string or an integer (`RequestId` of all revisions).
#[must_use]
pub fn is_id(text: &str) -> bool {
    text.starts_with('"') || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Returns the text of a JSON string.
#[must_use]
pub fn text(json: &str) -> Option<Cow<'_, str>> {
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') {
        return serde_json::from_str(json).ok().map(Cow::Owned);
    }
    Some(Cow::Borrowed(inner))
}

/// A scanner of a text.
pub(super) struct Scan<'m> {
    text: &'m str,
    place: usize,
}

impl<'m> Scan<'m> {
    pub(super) fn new(text: &'m str) -> Self {
        Self { text, place: 0 }
    }

    /// Passes each name of an object to `field`, which has to read the value.
    pub(super) fn object(&mut self, mut field: impl FnMut(&mut Self, &'m str) -> Option<()>) -> Option<()> {
        self.expect(b'{')?;
        if self.take_if(b'}') {
            return Some(());
        }
        loop {
            let name = self.string()?;
            self.expect(b':')?;
            field(self, name)?;
            if !self.take_if(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Reads a string without escapes, and returns it without its quotes.
    pub(super) fn string(&mut self) -> Option<&'m str> {
        self.expect(b'"')?;
        let start = self.place;
        let end = start + special::position(&self.bytes()[start..]);
        self.place = end + 1;
        if self.bytes().get(end) == Some(&b'"') { self.text.get(start..end) } else { None }
    }

    /// Reads a value, and returns its text.
    pub(super) fn value(&mut self) -> Option<&'m str> {
        // A stack of open objects and arrays, one bit each, the innermost in the lowest bit, with a one above them.
        let mut open: u64 = 1;
        self.skip_space();
        let start = self.place;
        loop {
            let byte = self.peek()?;
            match byte {
                b'"' => self.skip_string()?,
                b'{' | b'[' => {
                    self.place += 1;
                    let is_object = byte == b'{';
                    if !self.take_if(if is_object { b'}' } else { b']' }) {
                        if open.leading_zeros() == 0 {
                            return None;
                        }
                        open = open << 1 | u64::from(is_object);
                        self.begin_member(is_object)?;
                        continue;
                    }
                }
                b'-' | b'0'..=b'9' => self.skip_number()?,
                b't' => self.skip_word("true")?,
                b'f' => self.skip_word("false")?,
                b'n' => self.skip_word("null")?,
                _ => return None,
            }
            // A value has ended, and with it perhaps the objects and arrays around it.
            loop {
                if open == 1 {
                    return self.text.get(start..self.place);
                }
                let is_object = open & 1 == 1;
                if self.take_if(b',') {
                    self.begin_member(is_object)?;
                    break;
                }
                self.expect(if is_object { b'}' } else { b']' })?;
                open >>= 1;
            }
        }
    }

    /// Returns true at the end of the text.
    pub(super) fn is_at_end(&mut self) -> bool {
        self.skip_space();
        self.place == self.text.len()
    }

    /// Reads up to the value of a member.
    fn begin_member(&mut self, is_object: bool) -> Option<()> {
        self.skip_space();
        if is_object {
            self.skip_string()?;
            self.expect(b':')?;
            self.skip_space();
        }
        Some(())
    }

    fn skip_string(&mut self) -> Option<()> {
        if self.peek() != Some(b'"') {
            return None;
        }
        self.place += 1;
        loop {
            self.place += special::position(&self.bytes()[self.place..]);
            match self.peek()? {
                b'"' => break,
                b'\\' => match self.bytes().get(self.place + 1)? {
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.place += 2,
                    b'u' => {
                        let digits = self.bytes().get(self.place + 2..self.place + 6)?;
                        if !digits.iter().all(u8::is_ascii_hexdigit) {
                            return None;
                        }
                        self.place += 6;
                    }
                    _ => return None,
                },
                // Control characters have to be escaped.
                _ => return None,
            }
        }
        self.place += 1;
        Some(())
    }

    fn skip_number(&mut self) -> Option<()> {
        if self.peek() == Some(b'-') {
            self.place += 1;
        }
        match self.peek()? {
            b'0' => self.place += 1,
            _ => self.skip_digits()?,
        }
        if self.peek() == Some(b'.') {
            self.place += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.place += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.place += 1;
            }
            self.skip_digits()?;
        }
        Some(())
    }

    /// Skips digits, of which there must be one.
    fn skip_digits(&mut self) -> Option<()> {
        let n_digits = self.bytes()[self.place..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.place += n_digits;
        (n_digits > 0).then_some(())
    }

    fn skip_word(&mut self, word: &str) -> Option<()> {
        let rest = self.bytes().get(self.place..)?;
        self.place += word.len();
        rest.starts_with(word.as_bytes()).then_some(())
    }

    /// Reads a byte after whitespace.
    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take_if(byte).then_some(())
    }

    /// Reads a byte after whitespace if it is the next one.
    fn take_if(&mut self, byte: u8) -> bool {
        self.skip_space();
        let is_next = self.peek() == Some(byte);
        self.place += usize::from(is_next);
        is_next
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.place += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes().get(self.place).copied()
    }

    fn bytes(&self) -> &'m [u8] {
        self.text.as_bytes()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::Scan;

    fn scanned(json: &str) -> Option<&str> {
        let mut scan = Scan::new(json);
        let value = scan.value();
        value.filter(|_| scan.is_at_end())
    }

    #[test]
    fn values_are_those_of_serde_json() {
        for json in [
            "{}",
            " [ ] ",
            r#" {"a": [1, -0.5e+7, {"b\u00e9\n": null}], "c" : {"d":[[],{}]}} "#,
            "-0",
            "[true,false,null]",
            "\"ü\"",
        ] {
            assert_eq!(scanned(json), Some(json.trim()), "{json}");
        }
        for json in [
            "",
            "{",
            "{]",
            "[1,]",
            "{,}",
            "{\"a\"}",
            "{\"a\":}",
            "{1:2}",
            "01",
            "1.",
            "-",
            "1e",
            ".5",
            "nul",
            "\"\\x\"",
            "\"\\u12g4\"",
            "\"\n\"",
            "\"",
            "[1 2]",
            "{\"a\":1 \"b\":2}",
            "{}}",
            "[}",
            "+1",
            "NaN",
            "{\"a\":1,}",
            "\u{a0}1",
        ] {
            assert!(serde_json::from_str::<&RawValue>(json).is_err(), "{json}");
            assert_eq!(scanned(json), None, "{json}");
        }
    }
}
