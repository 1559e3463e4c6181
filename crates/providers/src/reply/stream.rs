//! Streamed replies, whose events arrive in pieces of any size.

use serde_json::Value;

use super::Reply;
use super::api::Api;
use super::assembly::Assembly;
use super::event::ReplyEvent;
use super::format::Assembled;
use super::framing::{EventSplitter, Framing};
use super::invalid_reply::InvalidReply;
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
    splitter: EventSplitter,
    reply: Assembly,
    n_bytes: usize,
    max_bytes: usize,
    /// The bytes of a response that is not a stream.
    body: Option<Vec<u8>>,
}

impl ReplyStream {
    pub(super) fn new(api: Api, names: ExportedNames) -> Self {
        Self {
            api,
            names,
            splitter: EventSplitter::new(api.0.framing()),
            reply: Assembly::default(),
            n_bytes: 0,
            max_bytes: MAX_BYTES,
            body: None,
        }
    }

    /// Sets the maximum length of the stream in bytes. The default is 64 MiB.
    #[must_use]
    pub fn max_bytes(self, max_bytes: usize) -> Self {
        Self { max_bytes, ..self }
    }

    /// Reads a body instead of a stream.
    pub(crate) fn of_body(self) -> Self {
        Self { body: Some(Vec::new()), ..self }
    }

    /// Adds the next bytes of the response, and returns what they show. Servers may ignore that a stream was requested: a
    /// JSON body is read at its end.
    ///
    /// # Errors
    ///
    /// Returns an error if the bytes are not a stream of this API, or exceed the limit.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<ReplyEvent>, InvalidReply> {
        self.n_bytes = self.n_bytes.saturating_add(bytes.len());
        self.check_limit()?;
        if self.n_bytes == bytes.len() && self.is_body(bytes) {
            self.body = Some(Vec::new());
        }
        if let Some(body) = &mut self.body {
            body.extend_from_slice(bytes);
            return Ok(Vec::new());
        }
        let Self { api, splitter, reply, .. } = self;
        splitter.push(bytes, |event| parse_and_add(*api, event, reply))?;
        Ok(std::mem::take(&mut self.reply.events))
    }

    /// Adds the next event, without its framing, and returns what it shows. An event without content changes nothing. The
    /// `[DONE]` at the end of a stream of OpenAI's protocol is the string `"[DONE]"`.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is not one of this API.
    pub fn push_event(&mut self, event: Value) -> Result<Vec<ReplyEvent>, InvalidReply> {
        add(self.api, event, &mut self.reply)?;
        Ok(std::mem::take(&mut self.reply.events))
    }

    /// Returns the reply.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream had no reply.
    pub fn finish(mut self) -> Result<Reply, InvalidReply> {
        if let Some(body) = &self.body {
            return self.api.read(body, &self.names);
        }
        let Self { api, splitter, reply, .. } = &mut self;
        // A connection that ended in the middle of an event is no reason to lose the others.
        let last = splitter.finish(|event| parse_and_add(*api, event, reply));
        let is_complete = self.reply.is_complete && last.is_ok();
        if !self.reply.has_started && self.reply.blocks.is_empty() {
            return Err(InvalidReply::new(self.api.name(), "the stream has no reply"));
        }
        let body = self.api.0.assemble(self.reply);
        self.api.read_assembled(Assembled::new(body, is_complete), &self.names)
    }

    /// Returns the error of a response with a status, whose body was read.
    pub(crate) fn into_error(self, status: u16) -> InvalidReply {
        InvalidReply::status(self.api.name(), status, &self.body.unwrap_or_default())
    }

    /// Returns true if nothing has arrived.
    pub(crate) fn is_empty(&self) -> bool {
        self.n_bytes == 0
    }

    /// Returns true if the first bytes of a response are those of JSON, with which no server-sent event begins.
    fn is_body(&self, bytes: &[u8]) -> bool {
        self.api.0.framing() == Framing::ServerSentEvents && matches!(bytes.trim_ascii_start(), [b'{' | b'[', ..])
    }

    fn check_limit(&self) -> Result<(), InvalidReply> {
        if self.n_bytes <= self.max_bytes {
            return Ok(());
        }
        let reason = format!("the stream has more than {} bytes", self.max_bytes);
        Err(InvalidReply::new(self.api.name(), reason))
    }
}

fn parse_and_add(api: Api, event: &[u8], reply: &mut Assembly) -> Result<(), InvalidReply> {
    let event = match event.trim_ascii() {
        // Servers and proxies keep a connection alive with events without data.
        b"" => return Ok(()),
        b"[DONE]" => DONE.into(),
        event => {
            serde_json::from_slice(event).map_err(|error| InvalidReply::not_json(api.name(), "an event", error))?
        }
    };
    add(api, event, reply)
}

/// The last event of servers with the protocol of OpenAI.
const DONE: &str = "[DONE]";

/// Adds an event, unless it has no content.
fn add(api: Api, event: Value, reply: &mut Assembly) -> Result<(), InvalidReply> {
    match &event {
        // Data after the last event does not belong to this reply.
        _ if reply.is_done => Ok(()),
        Value::Null => Ok(()),
        Value::Object(fields) if fields.is_empty() => Ok(()),
        Value::String(text) if text.trim().is_empty() => Ok(()),
        Value::String(text) if text.trim() == DONE => {
            reply.is_done = true;
            api.0.end(reply);
            Ok(())
        }
        _ => api.0.add(event, reply),
    }
}

toolkit::debug_fields!(ReplyStream { api, n_bytes });
