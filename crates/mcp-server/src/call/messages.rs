//! The events of a running tool as messages to the client of its call.

use std::collections::BTreeMap;
use std::future::pending;
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::time::Instant;
use toolkit::call::Progress;
use toolkit::stream::Chunk;
use toolkit_mcp::notification;

use super::Call;

/// The number of events in the queue of a slow client. Further progress reports and log messages are dropped.
const MAX_EVENTS: usize = 64;

/// The key of a part of the result in `_meta` of a progress notification.
///
/// The protocol has no message for parts. A client that sends `"rs.toolkit/chunks": true` in `_meta` of its call, with a
/// progress token, receives each part as JSON under this key. The response contains the whole result as always.
const CHUNK: &str = "rs.toolkit/chunk";

/// The least time between a progress notification and one that reports that the call waits.
const MIN_WAITING: Duration = Duration::from_secs(10);

/// The increase of the progress of a call that waits, relative to the progress.
const WAITING_STEP: f64 = 1e-6;

/// An event of a running tool.
#[derive(Debug)]
pub(super) enum CallEvent {
    Progress(Progress),
    /// A part of the result.
    Chunk(Chunk),
    /// The call still waits for its user.
    Waiting,
    /// A log notification.
    Log(Vec<u8>),
    /// A question to the user, or its cancellation.
    Question(Vec<u8>),
}

/// Creates the queue of the events of a call.
pub(super) fn queue() -> (Sender<CallEvent>, Receiver<CallEvent>) {
    channel(MAX_EVENTS)
}

/// The messages of a call, from the events of its tool.
pub(super) struct Messages {
    /// `None` if the client receives only the response.
    events: Option<Receiver<CallEvent>>,
    /// The last progress that was sent. Progress must increase with each notification.
    done: f64,
    total: Option<f64>,
    reported_at: Option<Instant>,
}

impl Messages {
    pub(super) fn new(events: Option<Receiver<CallEvent>>) -> Self {
        Self { events, done: f64::NEG_INFINITY, total: None, reported_at: None }
    }

    /// Waits for the next message. Dropping the future loses none.
    pub(super) async fn next(&mut self, call: &Call) -> Vec<u8> {
        loop {
            let Some(events) = &mut self.events else { return pending().await };
            let Some(event) = events.recv().await else {
                self.events = None;
                continue;
            };
            if let Some(message) = self.message(call, event) {
                return message;
            }
        }
    }

    /// Returns the next message that needs no waiting.
    pub(super) fn queued(&mut self, call: &Call) -> Option<Vec<u8>> {
        loop {
            let event = self.events.as_mut()?.try_recv().ok()?;
            if let Some(message) = self.message(call, event) {
                return Some(message);
            }
        }
    }

    fn message(&mut self, call: &Call, event: CallEvent) -> Option<Vec<u8>> {
        match event {
            CallEvent::Progress(progress) => match &call.task {
                Some(offer) if offer.report(&progress.message) => None,
                _ => self.progress(call, &progress),
            },
            CallEvent::Chunk(chunk) => self.chunk(call, &chunk),
            CallEvent::Waiting => self.waiting(call),
            CallEvent::Log(message) | CallEvent::Question(message) => Some(message),
        }
    }

    fn progress(&mut self, call: &Call, progress: &Progress) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct ChunkParams<'p> {
            #[serde(rename = "progressToken")]
            token: &'p RawValue,
            #[serde(flatten)]
            progress: &'p Progress,
        }
        let token = call.progress_token.as_deref()?;
        // The protocol requires that progress increases.
        if progress.done <= self.done {
            return None;
        }
        self.done = progress.done;
        self.total = progress.total;
        self.reported_at = Some(Instant::now());
        Some(notification("notifications/progress", &ChunkParams { token, progress }))
    }

    /// Returns a part of the result, with an increase of the progress that is as small as possible.
    fn chunk(&mut self, call: &Call, chunk: &Chunk) -> Option<Vec<u8>> {
        #[derive(Serialize)]
        struct ProgressParams<'p> {
            #[serde(rename = "progressToken")]
            token: &'p RawValue,
            progress: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            total: Option<f64>,
            #[serde(rename = "_meta")]
            meta: BTreeMap<&'static str, &'p RawValue>,
        }
        let token = call.progress_token.as_deref()?;
        self.done = self.next_done();
        let meta = BTreeMap::from([(CHUNK, serde_json::from_str(chunk.json()).ok()?)]);
        let params = ProgressParams { token, progress: self.done, total: self.total, meta };
        Some(notification("notifications/progress", &params))
    }

    /// Returns the last progress again, with an increase that is as small as possible.
    fn waiting(&mut self, call: &Call) -> Option<Vec<u8>> {
        // Of several open questions, each sends an event.
        if self.reported_at.is_some_and(|at| at.elapsed() < MIN_WAITING) {
            return None;
        }
        self.progress(call, &Progress::new(self.next_done(), self.total, "waiting for the answer of the user"))
    }

    /// Returns a progress that is slightly larger than the last one.
    fn next_done(&self) -> f64 {
        let done = if self.done.is_finite() { self.done } else { 0.0 };
        done + WAITING_STEP * done.abs().max(1.0)
    }
}
