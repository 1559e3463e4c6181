//! Spans without OpenTelemetry.

use tracing::Span;

use super::{RequestInfo, Side, TraceParent, Transport};

/// A request that is not measured.
#[derive(Debug)]
pub(super) struct Measured;

impl Measured {
    pub(super) fn start(_: &RequestInfo<'_>) -> Self {
        Self
    }

    #[expect(clippy::unused_self, reason = "the interface is that of the other implementation")]
    pub(super) fn attribute(&mut self, _: &'static str, _: &str) {}

    #[expect(clippy::unused_self, reason = "the interface is that of the other implementation")]
    pub(super) fn end(&mut self) {}
}

/// A guard that measures a session.
#[derive(Debug)]
pub struct SessionTimer;

impl SessionTimer {
    /// Starts a session.
    #[must_use]
    pub fn start(_: Side, _: Transport, _: Option<&str>) -> Self {
        Self
    }
}

pub(super) fn set_parent(_: &Span, _: &TraceParent) -> bool {
    false
}

pub(super) fn trace_parent(_: &Span) -> Option<TraceParent> {
    None
}
