//! One attempt to call a tool: its request with its headers, its arguments in the message or in the object store, and its end.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use async_nats::{Client, HeaderMap, HeaderValue, Message, Request, RequestError, RequestErrorKind, Subject};
use bytes::Bytes;
use tokio::sync::broadcast::error::RecvError;
use tokio::time::{Instant, timeout_at};
use toolkit::ToolError;
use toolkit::backend::{BackendCall, BackendResponse};
use toolkit::call::{ErrorKind, TraceContext};

use crate::backend::inbox::{self, Event, Replies};
use crate::backend::link::Connected;
use crate::bodies::{self, BodyReference, Stored};
use crate::wire::{self, CANCEL, MAX_BODY, MORE_CREDIT};

/// The end of an attempt.
pub(super) enum AttemptEnd {
    /// The call has ended.
    Response(BackendResponse),
    /// The worker has rejected the call, which has not started.
    Rejected { response: Vec<u8>, kind: String },
    /// The subject of the call has no workers, so that it has not started.
    NoWorker,
    /// This worker has claimed the call, and has stored no answer.
    Claimed(String),
    /// The call may have run.
    Unknown(ToolError),
    /// The worker has cancelled the call.
    Cancelled(ToolError),
    /// The call has failed otherwise.
    Failed(ToolError),
}

/// The number of chunks that may be on their way.
pub(super) const CREDIT: usize = 16;

/// The number of beats that may be missing.
const MISSED_BEATS: u32 = 3;

/// The bounds of the interval of beats that a worker may announce.
const BEATS: [Duration; 2] = [Duration::from_millis(50), Duration::from_secs(60)];

/// An attempt to call a tool.
pub(super) struct Attempt<'c> {
    pub(super) name: &'c str,
    pub(super) connected: &'c Arc<Connected>,
    pub(super) call: &'c BackendCall<'c>,
    pub(super) call_id: &'c str,
    pub(super) arguments: &'c CallArguments,
    pub(super) credentials: Option<&'c str>,
    /// True if the worker must claim the call before it runs it.
    pub(super) is_claimed: bool,
    pub(super) deadline: Instant,
    pub(super) accept_timeout: Duration,
}

/// Cancels a call on its worker when it is dropped.
struct RunningAttempt {
    client: Client,
    control: Option<Subject>,
    /// True if the caller has received an event of this attempt.
    has_passed_on: bool,
}

impl Attempt<'_> {
    /// Sends the call to a subject and waits for its end.
    pub(super) async fn run(&self, subject: String) -> AttemptEnd {
        let Self { connected, call, .. } = self;
        let mut replies = connected.inbox.open();
        let mut denied = connected.denied.subscribe();
        let mut headers = headers(self);
        headers.insert(wire::EVENTS, &*replies.subject);
        // The client hands over the first reply without another task in between.
        let request = Request::new().headers(headers).payload(self.arguments.body.clone()).timeout(None);
        let first = connected.client.send_request(subject.clone(), request);
        let mut running = RunningAttempt { client: connected.client.clone(), control: None, has_passed_on: false };
        let rejected = async {
            loop {
                match denied.recv().await {
                    Ok(other) if other == subject => return,
                    Ok(_) | Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => std::future::pending().await,
                }
            }
        };
        let ended = tokio::select! {
            biased;
            ended = self.follow(first, &mut replies, &mut running, call) => ended,
            () = rejected => AttemptEnd::Failed(self.error(
                ErrorKind::Unauthorized,
                "was not called: the NATS server does not permit this program to call the tool",
            )),
        };
        // The caller would get the same events again.
        let ended = match ended {
            AttemptEnd::Unknown(error) | AttemptEnd::Cancelled(error) if running.has_passed_on => {
                AttemptEnd::Failed(error)
            }
            AttemptEnd::Rejected { response, .. } if running.has_passed_on => {
                AttemptEnd::Response(BackendResponse::Mcp(response))
            }
            ended => ended,
        };
        let has_ended = matches!(
            ended,
            AttemptEnd::Response(_) | AttemptEnd::Rejected { .. } | AttemptEnd::NoWorker | AttemptEnd::Claimed(_)
        );
        if has_ended {
            running.control = None;
        }
        ended
    }

    /// Passes on the events of a call until its end.
    async fn follow(
        &self,
        first: impl Future<Output = Result<Message, RequestError>>,
        replies: &mut Replies,
        running: &mut RunningAttempt,
        call: &BackendCall<'_>,
    ) -> AttemptEnd {
        let mut silence = self.accept_timeout;
        let (mut n_numbered, mut n_chunks, mut is_accepted) = (0, 0, false);
        let mut first = pin!(first);
        let mut has_first = false;
        loop {
            let until = (Instant::now() + silence).min(self.deadline);
            let next = async {
                tokio::select! {
                    biased;
                    message = &mut first, if !has_first => {
                        has_first = true;
                        message.map(Some)
                    }
                    message = replies.next() => Ok(message),
                }
            };
            let message = match timeout_at(until, next).await {
                Ok(Ok(Some(message))) => message,
                Ok(Ok(None)) => return self.unknown("sent more events than were read, or the connection was closed"),
                Ok(Err(error)) => return self.not_sent(error),
                Err(_) if until == self.deadline => {
                    return AttemptEnd::Failed(self.error(ErrorKind::TimedOut, "did not respond in time"));
                }
                Err(_) if !is_accepted => return self.unknown("did not accept the call in time"),
                Err(_) => return self.unknown("stopped reporting"),
            };
            is_accepted = true;
            if let Some(seq) = wire::number(message.headers.as_ref(), wire::SEQ) {
                n_numbered += 1;
                if seq != n_numbered {
                    return self.unknown("lost an event of the call");
                }
            }
            let message = match self.with_body(message).await {
                Ok(message) => message,
                Err(error) => return AttemptEnd::Failed(error),
            };
            match inbox::read(&self.connected.subjects, message) {
                Ok(Event::Alive { control, beat_ms }) => {
                    let [least, most] = BEATS;
                    silence = MISSED_BEATS * Duration::from_millis(beat_ms).clamp(least, most);
                    running.control = control.or(running.control.take());
                }
                Ok(Event::Progress(progress)) => {
                    running.has_passed_on = true;
                    call.context().progress(progress.done, progress.total, &progress.message);
                }
                Ok(Event::Chunk(chunk)) => {
                    running.has_passed_on = true;
                    if let Err(error) = call.send(chunk).await {
                        return AttemptEnd::Failed(error);
                    }
                    n_chunks += 1;
                    if n_chunks == CREDIT / 2 {
                        running.grant(n_chunks).await;
                        n_chunks = 0;
                    }
                }
                Ok(Event::Result(response)) => return AttemptEnd::Response(response),
                Ok(Event::Error { kind, has_run: true, .. }) if kind == ErrorKind::OutcomeUnknown.name() => {
                    return self.unknown("lost the call");
                }
                Ok(Event::Error { kind, has_run: true, .. }) if kind == ErrorKind::Cancelled.name() => {
                    return AttemptEnd::Cancelled(self.unknown_of("has cancelled the call"));
                }
                Ok(Event::Error { response, kind, has_run }) => {
                    return match (size_limit(&kind), has_run) {
                        (Some(kind), _) => AttemptEnd::Failed(inbox::error(kind, &response)),
                        (None, true) => AttemptEnd::Response(BackendResponse::Mcp(response)),
                        (None, false) => AttemptEnd::Rejected { response, kind },
                    };
                }
                Ok(Event::NoWorker) => return AttemptEnd::NoWorker,
                Ok(Event::Claimed(worker)) => return AttemptEnd::Claimed(worker),
                Ok(Event::Other) => {}
                Err(error) => return AttemptEnd::Failed(error),
            }
        }
    }

    /// Replaces the reference to a body by the body, and deletes it from the object store. The answer of a claimed call stays,
    /// for another delivery of the call.
    async fn with_body(&self, message: Message) -> Result<Message, ToolError> {
        let Some(reference) = wire::header(message.headers.as_ref(), wire::BODY) else { return Ok(message) };
        let (connected, bucket) = (self.connected, &self.connected.body_bucket);
        let lost = || {
            self.error(
                ErrorKind::ResultTooLarge,
                &format!("sent a result that cannot be read from the bucket `{bucket}`"),
            )
        };
        let reference = reference.parse::<BodyReference>().ok().filter(|reference| reference.bucket == *bucket);
        let reference = reference.ok_or_else(lost)?;
        let read = timeout_at(self.deadline, connected.bodies.read(&reference)).await;
        let (body, stored) = match read {
            Ok(read) => read.map_err(|error| lost().caused_by(error))?,
            Err(_) => return Err(self.error(ErrorKind::TimedOut, "did not respond in time")),
        };
        if !self.is_claimed {
            delete(Arc::clone(connected), stored);
        }
        Ok(Message { payload: body, ..message })
    }

    /// Converts the error of the client.
    fn not_sent(&self, error: RequestError) -> AttemptEnd {
        match error.kind() {
            RequestErrorKind::NoResponders => AttemptEnd::NoWorker,
            RequestErrorKind::InvalidSubject | RequestErrorKind::MaxPayloadExceeded => {
                AttemptEnd::Failed(self.error(ErrorKind::Unavailable, "cannot be reached").caused_by(error))
            }
            _ => self.unknown("is no longer reachable"),
        }
    }

    fn unknown(&self, how: &str) -> AttemptEnd {
        AttemptEnd::Unknown(self.unknown_of(how))
    }

    /// Creates the error for a call that may have run; see [`error`](Self::error) for `how`.
    pub(super) fn unknown_of(&self, how: &str) -> ToolError {
        self.error(ErrorKind::OutcomeUnknown, &format!("{how}; the tool may have run"))
    }

    /// Creates an error. `how` completes the sentence "The worker of `NAME` …".
    fn error(&self, kind: ErrorKind, how: &str) -> ToolError {
        ToolError::new(kind, format!("the worker of `{}` {how}", self.name.escape_debug()))
    }
}

/// Returns the kind with this name if it is that of a size limit, which a worker may report.
fn size_limit(name: &str) -> Option<ErrorKind> {
    [ErrorKind::TooLarge, ErrorKind::ResultTooLarge].into_iter().find(|kind| kind.name() == name)
}

impl RunningAttempt {
    /// Tells the worker that there is room for more chunks.
    async fn grant(&self, n_chunks: usize) {
        if let Some(control) = &self.control {
            let _ = self.client.publish(control.clone(), format!("{MORE_CREDIT}{n_chunks}").into()).await;
        }
    }
}

impl Drop for RunningAttempt {
    fn drop(&mut self) {
        if let (Some(control), Ok(runtime)) = (self.control.take(), tokio::runtime::Handle::try_current()) {
            let client = self.client.clone();
            runtime.spawn(async move { client.publish(control, CANCEL.into()).await });
        }
    }
}

/// Returns the headers of an attempt, but for the subject of its events.
fn headers(attempt: &Attempt<'_>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let left = attempt.deadline.saturating_duration_since(Instant::now());
    let left = wire::millis(left).max(1);
    headers.insert(wire::CALL, attempt.call_id);
    headers.insert(wire::DEADLINE, left.to_string());
    headers.insert(wire::EXPIRES, wire::now().saturating_add(left).to_string());
    headers.insert(wire::BODIES, &*attempt.connected.body_bucket);
    if let Some(reference) = attempt.arguments.reference() {
        headers.insert(wire::BODY, reference.to_string());
    }
    if let Some(credentials) = attempt.credentials {
        headers.insert(wire::CREDENTIALS, credentials);
    }
    if attempt.is_claimed {
        headers.insert(wire::ONCE, wire::SHARED);
    }
    let context = attempt.call.context();
    if attempt.call.is_streamed() {
        headers.insert(wire::STREAM, "progress,chunks");
        headers.insert(wire::CREDIT, CREDIT.to_string());
    } else if context.has_progress_listener() {
        headers.insert(wire::STREAM, "progress");
    }
    for (name, value) in context.get::<TraceContext>().into_iter().flat_map(TraceContext::fields) {
        // A value with a line break would be another header.
        if let Ok(value) = value.parse::<HeaderValue>() {
            headers.insert(name, value);
        }
    }
    headers
}

/// The arguments of a call. Dropping them deletes them from the object store.
pub(super) struct CallArguments {
    /// The body of the message.
    pub(super) body: Bytes,
    stored: Option<(Arc<Connected>, Stored)>,
}

impl CallArguments {
    /// Stores arguments that do not fit into a message.
    ///
    /// # Errors
    ///
    /// Returns an error if they are too large, or cannot be stored.
    pub(super) async fn new(connected: &Arc<Connected>, json: &[u8], deadline: Instant) -> Result<Self, ToolError> {
        let (n_bytes, limit) = (json.len(), connected.bodies.inline_limit());
        if n_bytes <= limit {
            return Ok(Self { body: Bytes::copy_from_slice(json), stored: None });
        }
        if n_bytes > MAX_BODY {
            let message = format!("the arguments have {n_bytes} bytes, more than the limit of {MAX_BODY}");
            return Err(ToolError::new(ErrorKind::TooLarge, message));
        }
        let bucket = &connected.body_bucket;
        let too_large = || {
            let message = format!(
                "the arguments have {n_bytes} bytes, more than the limit of {limit} of the NATS server, and were not \
                 stored in the bucket `{bucket}`"
            );
            ToolError::new(ErrorKind::TooLarge, message)
        };
        match timeout_at(deadline, connected.bodies.store(bucket, json)).await {
            Ok(Ok(stored)) => Ok(Self { body: Bytes::new(), stored: Some((Arc::clone(connected), stored)) }),
            Ok(Err(error)) if error.kind() == io::ErrorKind::StorageFull => {
                let message = format!("the arguments have {n_bytes} bytes, and {}", bodies::full(bucket));
                Err(ToolError::new(ErrorKind::Overloaded, message).caused_by(error))
            }
            Ok(Err(error)) => Err(too_large().caused_by(error)),
            Err(_) => Err(too_large()),
        }
    }

    /// Returns the reference to the arguments, if they are not in the message.
    pub(super) fn reference(&self) -> Option<&BodyReference> {
        self.stored.as_ref().map(|(_, stored)| &stored.reference)
    }
}

impl Drop for CallArguments {
    fn drop(&mut self) {
        if let Some((connected, stored)) = self.stored.take() {
            delete(connected, stored);
        }
    }
}

/// Deletes a body in the background.
pub(super) fn delete(connected: Arc<Connected>, stored: Stored) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move { connected.bodies.delete(&stored).await });
    }
}
