//! Reading lines with a size limit.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// A reader of lines with a size limit.
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    max_bytes: usize,
    /// True if the line was returned and is to be cleared.
    was_returned: bool,
}

/// The capacity in bytes that is kept for the next line.
const KEPT_BYTES: usize = 64 << 10;

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R, max_bytes: usize) -> Self {
        Self { reader: BufReader::new(reader), line: Vec::new(), max_bytes, was_returned: false }
    }

    /// Returns the next line with its line ending, or its first `max_bytes` bytes, or `None` at the end.
    ///
    /// Dropping the future loses no data.
    pub(super) async fn next(&mut self) -> io::Result<Option<&[u8]>> {
        if std::mem::take(&mut self.was_returned) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
        loop {
            let available = self.reader.fill_buf().await?;
            let room = self.max_bytes - self.line.len();
            let available = &available[..available.len().min(room)];
            let end = available.iter().position(|&byte| byte == b'\n');
            let n_taken = end.map_or(available.len(), |end| end + 1);
            let is_last = n_taken == 0;
            self.line.extend_from_slice(&available[..n_taken]);
            self.reader.consume(n_taken);
            if end.is_some() || self.line.len() == self.max_bytes || is_last {
                self.was_returned = !self.line.is_empty();
                return Ok(self.was_returned.then_some(&self.line));
            }
        }
    }
}
