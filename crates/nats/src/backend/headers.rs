//! The headers of a request.

use async_nats::HeaderMap;
use tokio::time::Instant;
use toolkit::call::TraceContext;

use super::attempt::{Attempt, CREDIT};
use crate::wire;

/// Returns the headers of an attempt, but for the subject of its events.
pub(super) fn of(attempt: &Attempt<'_>) -> HeaderMap {
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
