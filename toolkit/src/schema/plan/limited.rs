//! JSON up to a length.

use std::io;

/// Appends to JSON up to a length, and fails beyond it.
pub(crate) struct Limited<'j> {
    json: &'j mut Vec<u8>,
    max_bytes: usize,
    is_exceeded: bool,
}

impl<'j> Limited<'j> {
    pub(crate) fn new(json: &'j mut Vec<u8>, max_bytes: usize) -> Self {
        Self { json, max_bytes, is_exceeded: false }
    }

    /// Returns true if something was longer than the rest of the length.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.is_exceeded
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() > self.max_bytes.saturating_sub(self.json.len()) {
            self.is_exceeded = true;
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.json.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
