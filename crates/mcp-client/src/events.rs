//! The server-sent events of a response.

use bytes::{Buf, Bytes};
use futures_util::stream::{self, BoxStream, StreamExt};
use reqwest::Response;
use rmcp::transport::streamable_http_client::SseError;
use sse_stream::Sse;
use toolkit_runtime::{EventReader, ServerEvent};

pub(super) type Events = BoxStream<'static, Result<Sse, SseError>>;

/// Reads the events of a response. An event of more than `max_bytes` bytes is an error, after which the stream ends.
pub(super) fn read(response: Response, max_bytes: usize) -> Events {
    let state = (response, EventReader::new(max_bytes), Bytes::new());
    let events = stream::try_unfold(state, |(mut response, mut events, mut bytes)| async move {
        loop {
            let mut rest = &bytes[..];
            let event = events.next_event(&mut rest).map_err(|error| SseError::Body(error.into()))?;
            let n_rest = rest.len();
            bytes.advance(bytes.len() - n_rest);
            if let Some(event) = event {
                return Ok(Some((converted(event), (response, events, bytes))));
            }
            match response.chunk().await.map_err(|error| SseError::Body(error.into()))? {
                Some(more) => bytes = more,
                None => return Ok(None),
            }
        }
    });
    events.boxed()
}

/// Converts an event to the type of `rmcp`. Invalid UTF-8, which some servers send, becomes U+FFFD.
fn converted(event: ServerEvent) -> Sse {
    let text = |bytes: Option<Vec<u8>>| {
        bytes.map(|bytes| {
            String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
        })
    };
    Sse { event: text(event.name), data: text(event.data), id: text(event.id), retry: event.retry }
}
