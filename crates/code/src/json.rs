//! JSON with a maximum length, which ends writing it.

use std::io;

use serde::Serialize;
use toolkit::schema::plan::Limited;

/// Writes a value as JSON.
///
/// # Errors
///
/// Returns `None` if the text would be longer than `max` bytes, and an error if the value cannot be written.
pub(crate) fn write(value: &impl Serialize, max: usize) -> serde_json::Result<Option<Vec<u8>>> {
    let mut json = Vec::new();
    let mut limited = Limited::new(&mut json, max);
    match serde_json::to_writer(&mut limited, value) {
        _ if limited.is_exceeded() => Ok(None),
        written => written.map(|()| Some(json)),
    }
}

/// Returns the length of a value as JSON in bytes, or a number above `max` if it is longer.
pub(crate) fn length(value: &impl Serialize, max: usize) -> usize {
    let mut count = Count { n_bytes: 0, max };
    match serde_json::to_writer(&mut count, value) {
        Ok(()) => count.n_bytes,
        Err(_) => usize::MAX,
    }
}

struct Count {
    n_bytes: usize,
    max: usize,
}

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.n_bytes += bytes.len();
        if self.n_bytes > self.max { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
