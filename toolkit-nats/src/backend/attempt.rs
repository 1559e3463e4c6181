//! One attempt to call a tool.

use std::time::Duration;

use async_nats::{Client, HeaderMap, Subject};
use bytes::Bytes;
use serde_json::{Map, Value};
use tokio::time::{Instant, timeout_at};
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::{ErrorKind, TraceContext};

use super::events::{self, Event};
use super::inbox::Replies;
use super::link::Connected;
use crate::wire::{self, CANCEL, MORE_CREDIT};

/// The end of an attempt.
pub(super) enum Ended {
    /// The call has ended.
    Response(BackendResponse),
    /// The worker has rejected the call, which has not started.
    Rejected { response: Map<String, Value>, kind: String },
    /// The subject of the call has no workers, so that it has not started.
    NoWorker,
    /// The call may have run.
    Unknown(ToolError),
    /// The call has failed otherwise.
    Failed(ToolError),
}

/// The number of chunks that may be on their way.
const CREDIT: usize = 16;

/// The number of beats that may be missing.
const MISSED_BEATS: u32 = 3;

/// The bounds of the interval of beats that a worker may announce.
const BEATS: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(60)];

/// An attempt to call a tool.
pub(super) struct Attempt<'c> {
    pub(super) name: &'c str,
    pub(super) connected: &'c Connected,
    pub(super) call: &'c BackendCall<'c>,
    pub(super) call_id: &'c str,
    pub(super) deadline: Instant,
    pub(super) accept_timeout: Duration,
}

/// Cancels a call on its worker when it is dropped.
struct CancelOnDrop {
    client: Client,
    control: Option<Subject>,
}

impl Attempt<'_> {
    /// Sends the call to a subject and waits for its end.
    pub(super) async fn run(&self, subject: String, arguments: Bytes) -> Ended {
        let Self { connected, call, .. } = self;
        let mut replies = connected.inbox.open();
        let mut denied = connected.denied.subscribe();
        let sent = connected.client.publish_with_reply_and_headers(
            subject.clone(),
            replies.subject.clone(),
            self.headers(),
            arguments,
        );
        if let Err(error) = sent.await {
            return Ended::Failed(self.error(ErrorKind::Unavailable, "cannot be reached").caused_by(error));
        }
        let mut running = CancelOnDrop { client: connected.client.clone(), control: None };
        let rejected = async { while denied.recv().await.is_ok_and(|other| other != subject) {} };
        let ended = tokio::select! {
            biased;
            ended = self.follow(&mut replies, &mut running, call) => ended,
            () = rejected => Ended::Failed(self.error(
                ErrorKind::Unauthorized,
                "was not called: the NATS server does not permit this program to call the tool",
            )),
        };
        let has_ended = matches!(ended, Ended::Response(_) | Ended::Rejected { .. } | Ended::NoWorker);
        if has_ended {
            running.control = None;
        }
        ended
    }

    /// Passes on the events of a call until its end.
    async fn follow(&self, replies: &mut Replies, running: &mut CancelOnDrop, call: &BackendCall<'_>) -> Ended {
        let mut silence = self.accept_timeout;
        let (mut last, mut n_chunks) = (None, 0);
        loop {
            let until = (Instant::now() + silence).min(self.deadline);
            let message = match timeout_at(until, replies.next()).await {
                Ok(Some(message)) => message,
                Ok(None) => return self.unknown("sent more events than were read, or the connection was closed"),
                Err(_) if until == self.deadline => {
                    return Ended::Failed(self.error(ErrorKind::TimedOut, "did not respond in time"));
                }
                Err(_) if last.is_none() => return self.unknown("did not accept the call in time"),
                Err(_) => return self.unknown("was not heard of any more"),
            };
            let seq = events::sequence(&message);
            let is_next =
                seq == last.map_or(Some(1), |last: u64| last.checked_add(1)) || (last.is_none() && seq.is_none());
            // The messages of the server have no number.
            if !is_next && message.status.is_none() {
                return self.unknown("lost an event of the call");
            }
            last = seq.or(last);
            match events::read(&self.connected.subjects, message) {
                Ok(Event::Alive { control, beat_ms }) => {
                    let [least, most] = BEATS;
                    silence = MISSED_BEATS * Duration::from_millis(beat_ms).clamp(least, most);
                    running.control = control.or(running.control.take());
                }
                Ok(Event::Progress(progress)) => progress.pass_on(call),
                Ok(Event::Chunk(chunk)) => {
                    if let Err(error) = call.send(chunk).await {
                        return Ended::Failed(error);
                    }
                    n_chunks += 1;
                    if n_chunks == CREDIT / 2 {
                        running.grant(n_chunks).await;
                        n_chunks = 0;
                    }
                }
                Ok(Event::Result(response)) => return Ended::Response(response),
                Ok(Event::Error { response, kind, has_run: true }) if kind == ErrorKind::OutcomeUnknown.name() => {
                    let _ = response;
                    return self.unknown("lost the call");
                }
                Ok(Event::Error { response, has_run: true, .. }) => {
                    return Ended::Response(BackendResponse::Mcp(response));
                }
                Ok(Event::Error { response, kind, has_run: false }) => return Ended::Rejected { response, kind },
                Ok(Event::NoWorker) => return Ended::NoWorker,
                Ok(Event::Other) => {}
                Err(error) => return Ended::Failed(error),
            }
        }
    }

    fn headers(&self) -> HeaderMap {
        let mut headers = HeaderMap::new();
        let left = self.deadline.saturating_duration_since(Instant::now());
        let left = wire::millis(left).max(1);
        headers.insert(wire::CALL, self.call_id);
        headers.insert(wire::DEADLINE, left.to_string());
        headers.insert(wire::EXPIRES, wire::now().saturating_add(left).to_string());
        let context = self.call.context();
        if self.call.is_streamed() {
            headers.insert(wire::STREAM, "progress,chunks");
            headers.insert(wire::CREDIT, CREDIT.to_string());
        } else if context.has_progress_listener() {
            headers.insert(wire::STREAM, "progress");
        }
        if let Some(trace) = context.get::<TraceContext>() {
            let values = [
                ("traceparent", Some(&trace.traceparent)),
                ("tracestate", trace.tracestate.as_ref()),
                ("baggage", trace.baggage.as_ref()),
            ];
            for (name, value) in values {
                // A value with a line break would be another header.
                if let Some(value) = value.and_then(|value| value.parse::<async_nats::HeaderValue>().ok()) {
                    headers.insert(name, value);
                }
            }
        }
        headers
    }

    fn unknown(&self, how: &str) -> Ended {
        Ended::Unknown(self.error(ErrorKind::OutcomeUnknown, &format!("{how}; the tool may have run")))
    }

    /// Creates an error. `how` completes the sentence "The worker of `NAME` …".
    fn error(&self, kind: ErrorKind, how: &str) -> ToolError {
        ToolError::new(kind, format!("the worker of `{}` {how}", self.name.escape_debug()))
    }
}

impl CancelOnDrop {
    /// Tells the worker that there is room for more chunks.
    async fn grant(&self, n_chunks: usize) {
        if let Some(control) = &self.control {
            let _ = self.client.publish(control.clone(), format!("{MORE_CREDIT}{n_chunks}").into()).await;
        }
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let (Some(control), Ok(runtime)) = (self.control.take(), tokio::runtime::Handle::try_current()) {
            let client = self.client.clone();
            runtime.spawn(async move { client.publish(control, CANCEL.into()).await });
        }
    }
}
