//! Lines of bounded length, from the pipes of other processes.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// Reads lines of bounded length.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::LineReader;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut lines = LineReader::new(&b"one\na line that is too long\n"[..]);
/// assert_eq!(lines.next(8).await?, Some(&b"one\n"[..]));
/// // The part that fits has no line ending. The rest is the next line.
/// assert_eq!(lines.next(8).await?, Some(&b"a line t"[..]));
/// # Ok::<(), std::io::Error>(())
/// # })?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct LineReader<R> {
    reader: BufReader<R>,
    line: Vec<u8>,
    /// True if the line was returned and is to be cleared.
    was_returned: bool,
}

/// The bytes that are read at once; a pipe of Linux holds 64 KiB.
const BUFFER: usize = 16 << 10;
/// The capacity in bytes that is kept for the next line.
const KEPT_BYTES: usize = 64 << 10;

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Creates a reader.
    pub fn new(reader: R) -> Self {
        Self { reader: BufReader::with_capacity(BUFFER, reader), line: Vec::new(), was_returned: false }
    }

    /// Returns the next line with its line ending, or its first `max_bytes` bytes, or `None` at the end.
    ///
    /// Dropping the future loses no data, if the next call has the same limit.
    ///
    /// # Errors
    ///
    /// Returns the error of the reader.
    pub async fn next(&mut self, max_bytes: usize) -> io::Result<Option<&[u8]>> {
        if std::mem::take(&mut self.was_returned) {
            self.line.clear();
            self.line.shrink_to(KEPT_BYTES);
        }
        loop {
            let available = self.reader.fill_buf().await?;
            let room = max_bytes.saturating_sub(self.line.len());
            let available = &available[..available.len().min(room)];
            let end = available.iter().position(|&byte| byte == b'\n');
            let n_taken = end.map_or(available.len(), |end| end + 1);
            let is_last = n_taken == 0;
            self.line.extend_from_slice(&available[..n_taken]);
            self.reader.consume(n_taken);
            if end.is_some() || self.line.len() >= max_bytes || is_last {
                self.was_returned = !self.line.is_empty();
                return Ok(self.was_returned.then_some(&self.line));
            }
        }
    }

    /// Returns true if more was read than the last line.
    pub fn has_more(&self) -> bool {
        !self.reader.buffer().is_empty()
    }
}
