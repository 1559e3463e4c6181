//! The events of a stream, from pieces of any size.

use super::format::Framing;

/// Splits the bytes of a stream into the JSON texts of its events.
#[derive(Debug)]
pub(crate) struct Lines {
    framing: Framing,
    /// The start of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// The lines of data of an event that is not complete yet.
    data: Vec<u8>,
    has_data: bool,
    ends_with_cr: bool,
    is_first: bool,
}

impl Lines {
    pub(crate) fn new(framing: Framing) -> Self {
        Self { framing, line: Vec::new(), data: Vec::new(), has_data: false, ends_with_cr: false, is_first: true }
    }

    /// Adds bytes, and passes each event that they complete to `take`.
    pub(crate) fn push<E>(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, after) = rest.split_at(end);
            let is_second_half = self.ends_with_cr && line.is_empty() && after[0] == b'\n';
            self.ends_with_cr = after[0] == b'\r';
            rest = &after[1..];
            if is_second_half {
                continue;
            }
            self.line.extend_from_slice(line);
            let line = std::mem::take(&mut self.line);
            self.end_line(&line, &mut take)?;
            // The allocation is used again.
            self.line = line;
            self.line.clear();
        }
        self.ends_with_cr &= rest.is_empty();
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Passes what is left at the end of a stream to `take`.
    pub(crate) fn finish<E>(&mut self, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = std::mem::take(&mut self.line);
        self.end_line(&line, &mut take)?;
        self.end_event(&mut take)
    }

    fn end_line<E>(&mut self, line: &[u8], take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let line = if self.is_first { line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line) } else { line };
        self.is_first = false;
        match self.framing {
            Framing::Lines if line.trim_ascii().is_empty() => Ok(()),
            Framing::Lines => take(line),
            Framing::ServerSentEvents if line.is_empty() => self.end_event(take),
            Framing::ServerSentEvents => {
                // Other fields, such as `event` and `id`, repeat what the data contains.
                if let Some(data) = line.strip_prefix(b"data:") {
                    if self.has_data {
                        self.data.push(b'\n');
                    }
                    self.has_data = true;
                    self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
                }
                Ok(())
            }
        }
    }

    fn end_event<E>(&mut self, take: &mut impl FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        if !std::mem::take(&mut self.has_data) {
            return Ok(());
        }
        let data = std::mem::take(&mut self.data);
        take(&data)?;
        self.data = data;
        self.data.clear();
        Ok(())
    }
}
