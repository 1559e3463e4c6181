//! Framing: one message per line.

use std::io::{self, BufRead, Read};

/// The maximum length of a line, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 20 << 20;

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
