//! Writing server-sent events.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::mpsc::Receiver;

use super::dedup::Waiter;
use super::reply::Reply;

/// An event before the end of a call.
pub(super) struct Part {
    kind: &'static str,
    /// The data as JSON.
    data: String,
}

impl Part {
    pub(super) fn of(event: &toolkit::stream::Event) -> Option<Self> {
        use toolkit::stream::Event;

        let data = match event {
            Event::Progress(progress) => {
                json!({ "progress": progress.done, "total": progress.total, "message": progress.message }).to_string()
            }
            Event::Chunk(chunk) => chunk.json().to_owned(),
            _ => return None,
        };
        Some(Self { kind: event.kind(), data })
    }
}

/// The interval of comments that keep the connection open.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// Creates the event stream of a call.
///
/// A call that is rejected before the tool runs gets a regular response, so this waits for the first event or the end.
pub(super) async fn of_call(tool_id: String, mut parts: Receiver<Part>, mut waiter: Waiter) -> Response {
    let Some(first) = parts.recv().await else {
        return of_reply(tool_id, waiter.reply().await);
    };
    let state = State { tool_id, first: Some(first), parts, waiter: Some(waiter) };
    let events = stream::unfold(state, |mut state| async move {
        let event = state.next().await?;
        Some((Ok::<_, Infallible>(event), state))
    });
    Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE)).into_response()
}

/// Creates the event stream of a call that has ended, with one event.
pub(super) fn of_reply(tool_id: String, reply: Reply) -> Response {
    match end(&tool_id, &reply) {
        Some(event) => Sse::new(stream::iter([Ok::<_, Infallible>(event)])).into_response(),
        None => reply.into_response(),
    }
}

struct State {
    tool_id: String,
    first: Option<Part>,
    parts: Receiver<Part>,
    /// `None` after the last event. Dropping it cancels the call if no other request waits.
    waiter: Option<Waiter>,
}

impl State {
    async fn next(&mut self) -> Option<Event> {
        let part = match self.first.take() {
            Some(first) => Some(first),
            None => self.parts.recv().await,
        };
        if let Some(part) = part {
            return Some(event(part.kind, &self.tool_id, part.data.as_bytes()));
        }
        let reply = self.waiter.as_mut()?.reply().await;
        self.waiter = None;
        // The status was sent already, so a rejection becomes an event.
        let refused = || {
            let Reply::Rejected(rejection) = &reply else { return None };
            let failed = json!({ "success": false, "error": { "message": rejection.message(), "can_retry": false } });
            Some(event("error", &self.tool_id, failed.to_string().as_bytes()))
        };
        end(&self.tool_id, &reply).or_else(refused)
    }
}

fn end(tool_id: &str, reply: &Reply) -> Option<Event> {
    match reply {
        Reply::Ran { succeeded, result } => {
            Some(event(if *succeeded { "done" } else { "error" }, tool_id, &Bytes::clone(result)))
        }
        Reply::Rejected(_) => None,
    }
}

fn event(kind: &str, tool_id: &str, data: &[u8]) -> Event {
    let mut json = format!(r#"{{"kind":"{kind}","toolId":{},"data":"#, Value::from(tool_id)).into_bytes();
    json.extend_from_slice(data);
    json.push(b'}');
    // Line breaks between JSON values would end a line of the event.
    json.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
    Event::default().data(String::from_utf8_lossy(&json))
}
