//! Skipping of values that a type does not read, in text that is known to be valid.

use super::cursor::Cursor;

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
