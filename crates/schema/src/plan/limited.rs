//! A writer with a length limit.

use std::io;

/// Appends to a JSON text up to a length. Longer writes fail.
pub struct Limited<'j> {
    json: &'j mut Vec<u8>,
    max_bytes: usize,
    is_exceeded: bool,
}

impl<'j> Limited<'j> {
    pub fn new(json: &'j mut Vec<u8>, max_bytes: usize) -> Self {
        Self { json, max_bytes, is_exceeded: false }
    }

    /// Returns true if a write exceeded the limit.
    pub fn is_exceeded(&self) -> bool {
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
