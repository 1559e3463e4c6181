//! The lines that a worker writes.

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

use super::super::super::wire::WireError;

/// Reads lines of bounded length.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
}

/// The bytes that are read at once; a pipe holds 64 KiB.
const BUFFER: usize = 16 << 10;

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(output: R) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER, output) }
    }

    /// Returns true if more was read than the last line.
    pub(super) fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty()
    }

    /// Reads a line of at most `max` bytes; `None` at the end of the output. It cannot be used again if it is canceled.
    pub(super) async fn receive(&mut self, max: usize) -> Result<Option<Vec<u8>>, WireError> {
        let mut line = Vec::new();
        loop {
            let available = self.reader.fill_buf().await.map_err(|error| WireError::Invalid(error.to_string()))?;
            if available.is_empty() {
                // What was written before the end is no complete message.
                return Ok(None);
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let n = end.map_or(available.len(), |end| end + 1);
            if line.len() + n > max {
                return Err(WireError::TooLong(max));
            }
            line.extend_from_slice(&available[..n]);
            self.reader.consume(n);
            if end.is_some() {
                return Ok(Some(line));
            }
        }
    }
}
