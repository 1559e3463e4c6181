//! Streamed replies, whose events arrive in pieces of any size.

use std::fmt;

use serde_json::Value;

use super::Reply;
use super::api::{Accumulate, Api, Framing, InvalidReply, ReplyEvent};
use toolkit::catalog::ExportedNames;

/// The default limit of a streamed reply.
const MAX_BYTES: usize = 64 << 20;

/// A reader of a streamed reply.
///
/// It takes the bytes of the response in pieces of any size, or events that another reader has parsed. A stream that
/// ends early is [`Truncated`](super::StopReason::Truncated).
///
/// ```
/// use toolkit::catalog::ExportedNames;
/// use toolkit_providers::anthropic::MESSAGES;
/// use toolkit_providers::reply::ReplyEvent;
///
/// // The pieces in which a response arrives:
/// let pieces: [&[u8]; 3] = [
///     b"data: {\"type\": \"message_start\", \"message\": {\"role\": \"assistant\"}}\n\ndata: {\"type\": \"content_blo",
///     b"ck_start\", \"index\": 0, \"content_block\": {\"type\": \"text\", \"text\": \"\"}}\n\n",
///     b"data: {\"type\": \"content_block_delta\", \"index\": 0, \"delta\": {\"type\": \"text_delta\", \"text\": \"Hi\"}}\n\n\
///       data: {\"type\": \"message_stop\"}\n\n",
/// ];
/// let mut stream = MESSAGES.stream(&ExportedNames::default());
/// for piece in pieces {
///     for event in stream.push(piece)? {
///         assert_eq!(event, ReplyEvent::Text("Hi".to_owned()));
///     }
/// }
/// assert_eq!(stream.finish()?.text(), "Hi");
/// # Ok::<(), toolkit_providers::reply::InvalidReply>(())
/// ```
pub struct ReplyStream {
    api: Api,
    names: ExportedNames,
    lines: Lines,
    accumulator: Box<dyn Accumulate>,
    events: Vec<ReplyEvent>,
    n_bytes: usize,
    max_bytes: usize,
}

impl ReplyStream {
    pub(super) fn new(api: Api, names: ExportedNames) -> Self {
        Self {
            api,
            names,
            lines: Lines::new(api.0.framing()),
            accumulator: api.0.accumulate(),
            events: Vec::new(),
            n_bytes: 0,
            max_bytes: MAX_BYTES,
        }
    }

    /// Sets the maximum length of the stream in bytes. The default is 64 MiB.
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Adds the next bytes of the response, and returns what they show.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a stream of this API, or exceed the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ReplyEvent>, InvalidReply> {
        self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        self.check_limit()?;
        let Self { api, lines, accumulator, events, .. } = self;
        lines.push(bytes, |event| accumulate(*api, accumulator.as_mut(), event, events))?;
        Ok(std::mem::take(&mut self.events))
    }

    /// Adds the next event, without its framing, and returns what it shows.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is not one of this API.
    pub fn push_event(&mut self, event: Value) -> Result<Vec<ReplyEvent>, InvalidReply> {
        self.accumulator.push(event, &mut self.events)?;
        Ok(std::mem::take(&mut self.events))
    }

    /// Returns the reply.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream had no reply.
    pub fn finish(mut self) -> Result<Reply, InvalidReply> {
        let Self { api, lines, accumulator, events, .. } = &mut self;
        // A connection that ended in the middle of an event is no reason to lose the others.
        let last = lines.finish(|event| accumulate(*api, accumulator.as_mut(), event, events));
        let mut assembled = self.accumulator.finish()?;
        assembled.is_complete &= last.is_ok();
        self.api.read_assembled(assembled, &self.names)
    }

    fn check_limit(&self) -> Result<(), InvalidReply> {
        if self.n_bytes <= self.max_bytes {
            return Ok(());
        }
        let reason = format!("the stream has more than {} bytes", self.max_bytes);
        Err(InvalidReply::new(self.api.name(), reason))
    }
}

fn accumulate(
    api: Api,
    accumulator: &mut dyn Accumulate,
    event: &[u8],
    events: &mut Vec<ReplyEvent>,
) -> Result<(), InvalidReply> {
    if event.trim_ascii() == b"[DONE]" {
        accumulator.end();
        return Ok(());
    }
    let event = serde_json::from_slice(event)
        .map_err(|error| InvalidReply::new(api.name(), format!("an event is not JSON: {error}")))?;
    accumulator.push(event, events)
}

impl fmt::Debug for ReplyStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReplyStream").field("api", &self.api).field("n_bytes", &self.n_bytes).finish_non_exhaustive()
    }
}

// The events of a stream, from pieces of any size.

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
