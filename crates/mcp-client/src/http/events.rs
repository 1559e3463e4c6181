//! Server-sent events of a response.

use std::time::Duration;

use bytes::{Buf, Bytes};
use http::header::HeaderValue;
use reqwest::Response;
use tokio::sync::watch;
use toolkit_runtime::{EventReader, ServerEvent};

use crate::failure::Failure;
use crate::message_memory::{LARGE, MessageLimit, MessageMemory, Received};

/// The media type of events.
pub(super) const EVENTS: &str = "text/event-stream";

/// The bounds of the time before a stream is opened again.
const MIN_PAUSE: Duration = Duration::from_millis(250);
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// The events of a response.
pub(super) struct Events {
    response: Response,
    reader: EventReader,
    bytes: Bytes,
    /// The number of bytes that were read of the next event.
    n_bytes: usize,
    memory: Option<MessageMemory>,
    limit: MessageLimit,
    pub(super) place: StreamPlace,
}

/// The place at which a stream can be resumed.
#[derive(Clone, Default)]
pub(super) struct StreamPlace {
    pub(super) last_id: Option<HeaderValue>,
    /// The time that the server wants the client to wait.
    retry: Option<Duration>,
}

impl Events {
    pub(super) fn new(response: Response, limit: MessageLimit) -> Self {
        Self {
            response,
            reader: EventReader::new(limit.max_bytes),
            bytes: Bytes::new(),
            n_bytes: 0,
            memory: None,
            limit,
            place: StreamPlace::default(),
        }
    }

    /// Returns the next event, or `None` at the end.
    ///
    /// # Errors
    ///
    /// Returns an error if the event is too long, or the connection has failed.
    pub(super) async fn next(&mut self) -> Result<Option<ServerEvent>, Failure> {
        loop {
            let mut rest = &self.bytes[..];
            let event = self.reader.next_event(&mut rest).map_err(|_| Failure::TooLarge(self.limit.max_bytes))?;
            let n_read = self.bytes.len() - rest.len();
            self.bytes.advance(n_read);
            self.n_bytes += n_read;
            if let Some(event) = event {
                self.n_bytes = 0;
                self.place.pass(&event);
                return Ok(Some(event));
            }
            if self.n_bytes > LARGE && self.memory.is_none() {
                self.memory = Some(self.limit.memory(self.limit.max_bytes).await);
            }
            match self.response.chunk().await.map_err(Failure::Client)? {
                Some(more) => self.bytes = more,
                None => return Ok(None),
            }
        }
    }

    /// Returns the data of the next message, or `None` at the end. Events with another name, and without data, are none.
    pub(super) async fn next_message(&mut self) -> Result<Option<Received>, Failure> {
        while let Some(event) = self.next().await? {
            let memory = self.memory.take();
            let is_message = matches!(event.name.as_deref(), None | Some(b"" | b"message"));
            if let Some(data) = event.data.filter(|data| is_message && !data.trim_ascii().is_empty()) {
                return Ok(Some(Received::new(data, memory)));
            }
        }
        Ok(None)
    }
}

impl StreamPlace {
    fn pass(&mut self, event: &ServerEvent) {
        if let Some(id) = &event.id {
            self.last_id = HeaderValue::from_bytes(id).ok().filter(|id| !id.is_empty());
        }
        if let Some(retry) = event.retry {
            self.retry = Some(Duration::from_millis(retry));
        }
    }

    /// Returns the wait before the stream is opened for the nth time.
    pub(super) fn pause(&self, nth: u32) -> Duration {
        let pause = MIN_PAUSE.saturating_mul(1 << nth.min(16));
        self.retry.unwrap_or(Duration::ZERO).max(pause).min(MAX_PAUSE)
    }
}

/// Counts a stream until it is dropped.
pub(super) struct OpenStream(watch::Sender<usize>);

impl OpenStream {
    pub(super) fn count(n_streams: &watch::Sender<usize>) -> Self {
        n_streams.send_modify(|n| *n += 1);
        Self(n_streams.clone())
    }
}

impl Drop for OpenStream {
    fn drop(&mut self) {
        self.0.send_modify(|n| *n -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_that_ends_again_and_again_is_opened_less_and_less() {
        let pauses = |retry| {
            let place = StreamPlace { last_id: None, retry };
            [0, 1, 2, 8, 99].map(|nth| place.pause(nth).as_millis())
        };
        assert_eq!(pauses(None), [250, 500, 1_000, 30_000, 30_000]);
        assert_eq!(pauses(Some(Duration::from_secs(2))), [2_000, 2_000, 2_000, 30_000, 30_000]);
        assert_eq!(pauses(Some(Duration::MAX)), [30_000; 5]);
    }
}
