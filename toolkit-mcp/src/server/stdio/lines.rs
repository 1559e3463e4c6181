//! Framing: one message per line.

use std::io::{self, BufRead, Read, Write};
use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;
use tokio::sync::mpsc::Receiver;

/// The maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 20 << 20;

/// An outgoing message, with the memory of its request, which is released once it is written.
pub(super) struct Outgoing {
    pub(super) bytes: Vec<u8>,
    pub(super) _held: Option<Arc<OwnedSemaphorePermit>>,
}

/// Writes messages, and combines queued ones into one write.
pub(super) fn write(mut messages: Receiver<Outgoing>, mut output: impl Write) -> io::Result<()> {
    let mut lines = Vec::new();
    let mut written = Vec::new();
    while let Some(first) = messages.blocking_recv() {
        let mut next = Some(first);
        while let Some(message) = next {
            lines.extend_from_slice(&message.bytes);
            lines.push(b'\n');
            written.push(message);
            next = if lines.len() < 64 << 10 { messages.try_recv().ok() } else { None };
        }
        output.write_all(&lines)?;
        output.flush()?;
        written.clear();
        lines.clear();
        lines.shrink_to(1 << 20);
    }
    Ok(())
}

/// The outcome of reading a line.
pub(super) enum Line {
    Read,
    TooLong,
    End,
}

/// Reads a line without its line ending. Skips a line that is too long.
pub(super) fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Line> {
    let n_read = input.by_ref().take(MAX_LINE_BYTES as u64 + 1).read_until(b'\n', line)?;
    if n_read == 0 {
        return Ok(Line::End);
    }
    if line.last() == Some(&b'\n') {
        line.pop();
        return Ok(Line::Read);
    }
    if n_read <= MAX_LINE_BYTES {
        // The last line may lack a line ending.
        return Ok(Line::Read);
    }
    line.clear();
    line.shrink_to(64 << 10);
    input.skip_until(b'\n')?;
    Ok(Line::TooLong)
}
