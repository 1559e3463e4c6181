//! Requests to run a tool.

use std::time::Duration;

use async_nats::{Message, Subject};
use toolkit::ToolError;
use toolkit::call::{Credentials, ErrorKind, TraceContext};

use crate::bodies::Reference;
use crate::credentials;
use crate::subject::{Subjects, is_token};
use crate::wire::{self, header, number};

/// A request to run a tool, without the arguments in its message.
pub(super) struct Request {
    pub(super) call: String,
    /// The time that is left for the call.
    pub(super) left: Option<Duration>,
    /// True if the caller reads events before the last one, which have the id of the call.
    pub(super) reads_events: bool,
    pub(super) wants_progress: bool,
    pub(super) wants_chunks: bool,
    pub(super) credit: usize,
    /// The subject of the events after the first.
    pub(super) events: Option<Subject>,
    pub(super) trace: Option<TraceContext>,
    pub(super) credentials: Option<Credentials>,
    /// The arguments, if they are not in the message.
    pub(super) body: Option<Reference>,
    /// The bucket for a result that does not fit into a message.
    pub(super) bodies: Option<String>,
    /// True if the call must be claimed before it runs.
    pub(super) is_claimed: bool,
}

impl Request {
    /// Reads the headers of a message.
    ///
    /// # Errors
    ///
    /// Returns an error if a header is invalid, or the time of the call is over.
    pub(super) fn read(message: &Message, subjects: &Subjects) -> Result<Self, ToolError> {
        let headers = message.headers.as_ref();
        let invalid = |name, rule| ToolError::new(ErrorKind::Failed, format!("the header `{name}` {rule}"));
        let call = match header(headers, wire::CALL) {
            Some(call) if is_token(call) => call.to_owned(),
            Some(_) => return Err(invalid(wire::CALL, "must have 1 to 64 letters, digits and hyphens")),
            None => wire::random_id(),
        };
        let time = |name| match header(headers, name) {
            Some(text) => text.parse().map(Some).map_err(|_| invalid(name, "must be a number of milliseconds")),
            None => Ok(None),
        };
        let left = time(wire::DEADLINE)?.map(Duration::from_millis);
        let latest = wire::millis(wire::CLOCK_TOLERANCE);
        let is_late = time(wire::EXPIRES)?.is_some_and(|end| wire::now().saturating_sub(end) > latest);
        if is_late || left == Some(Duration::ZERO) {
            return Err(ToolError::new(ErrorKind::TimedOut, "the time of the call was over before it started"));
        }
        let body = match header(headers, wire::BODY).map(str::parse::<Reference>).transpose() {
            Ok(Some(body)) if !subjects.is_bodies(&body.bucket) => {
                return Err(invalid(wire::BODY, "must name a bucket for bodies"));
            }
            Ok(body) => body,
            Err(rule) => return Err(invalid(wire::BODY, rule)),
        };
        let bodies = header(headers, wire::BODIES).map(str::to_owned);
        if bodies.as_ref().is_some_and(|bucket| !subjects.is_bodies(bucket)) {
            return Err(invalid(wire::BODIES, "must name a bucket for bodies"));
        }
        let is_claimed = match header(headers, wire::ONCE) {
            None => false,
            Some(wire::SHARED) if header(headers, wire::CALL).is_some() => true,
            Some(_) => return Err(invalid(wire::ONCE, "must be `shared`, beside the id of the call")),
        };
        let credentials = header(headers, wire::CREDENTIALS).map(credentials::read).transpose();
        let credentials = credentials.map_err(|rule| invalid(wire::CREDENTIALS, rule))?;
        let stream = header(headers, wire::STREAM).unwrap_or_default();
        let reads = |event| stream.split(',').any(|wanted| wanted.trim() == event);
        let reads_events = header(headers, wire::CALL).is_some();
        Ok(Self {
            call,
            left,
            reads_events,
            wants_progress: reads_events && reads("progress"),
            wants_chunks: reads_events && reads("chunks"),
            events: header(headers, wire::EVENTS).map(Subject::from),
            credit: number(headers, wire::CREDIT).and_then(|credit| credit.try_into().ok()).unwrap_or(0),
            trace: header(headers, "traceparent").map(|traceparent| {
                let mut trace = TraceContext::new(traceparent);
                trace.tracestate = header(headers, "tracestate").map(str::to_owned);
                trace.baggage = header(headers, "baggage").map(str::to_owned);
                trace
            }),
            credentials,
            body,
            bodies,
            is_claimed,
        })
    }
}
