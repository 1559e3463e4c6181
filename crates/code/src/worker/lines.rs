//! The lines of the protocol on the standard streams.

use std::fmt::Display;
use std::io::{self, BufRead, Read, Write};

use super::super::wire::{self, GREETING_BYTES, ToHost, WireError};

/// Reads a line of at most `max` bytes; `None` at the end of the input.
pub(super) fn receive(max: usize) -> Result<Option<Vec<u8>>, WireError> {
    let mut line = Vec::new();
    let limit = u64::try_from(max).unwrap_or(u64::MAX);
    let read = io::stdin().lock().take(limit).read_until(b'\n', &mut line);
    read.map_err(|error| WireError::Invalid(error.to_string()))?;
    match line.last() {
        None => Ok(None),
        Some(b'\n') => Ok(Some(line)),
        Some(_) if line.len() == max => Err(WireError::TooLong(max)),
        Some(_) => Err(WireError::Invalid("the last line has no end".to_owned())),
    }
}

/// Writes a message as a line of at most `max` bytes.
pub(super) fn send(message: &ToHost, max: usize) -> Result<(), WireError> {
    let line = wire::encode(message, max)?;
    let mut output = io::stdout().lock();
    let written = output.write_all(&line).and_then(|()| output.flush());
    written.map_err(|error| WireError::Invalid(error.to_string()))
}

/// Writes why the worker ends.
pub(super) fn send_error(error: &impl Display) -> Result<(), WireError> {
    send(&ToHost::Error(error.to_string()), GREETING_BYTES)
}
