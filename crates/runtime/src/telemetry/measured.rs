//! The traces and the histograms of OpenTelemetry.

use std::str::FromStr;
use std::sync::OnceLock;
use std::time::Instant;

use opentelemetry::metrics::Histogram;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use opentelemetry::{Context, KeyValue, global};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::{RequestInfo, Side, TraceParent, Transport};

/// The name of the instrumentation scope.
const SCOPE: &str = "toolkit";

/// The bounds of the conventions, in seconds.
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// The histograms of one side.
struct Durations {
    operation: Histogram<f64>,
    session: Histogram<f64>,
}

impl Durations {
    fn of(side: Side) -> &'static Self {
        static CLIENT: OnceLock<Durations> = OnceLock::new();
        static SERVER: OnceLock<Durations> = OnceLock::new();
        match side {
            Side::Client => CLIENT.get_or_init(|| {
                let operation = "The duration of the MCP request or notification as observed on the sender from the \
                                 time it was sent until the response or ack is received.";
                let session = "The duration of the MCP session as observed on the MCP client.";
                Self::new("mcp.client.operation.duration", operation, "mcp.client.session.duration", session)
            }),
            Side::Server => SERVER.get_or_init(|| {
                let operation = "MCP request or notification duration as observed on the receiver from the time it was \
                                 received until the result or ack is sent.";
                let session = "The duration of the MCP session as observed on the MCP server.";
                Self::new("mcp.server.operation.duration", operation, "mcp.server.session.duration", session)
            }),
        }
    }

    fn new(
        operation: &'static str,
        operation_text: &'static str,
        session: &'static str,
        session_text: &'static str,
    ) -> Self {
        let meter = global::meter(SCOPE);
        let histogram = |name, text| {
            let histogram = meter.f64_histogram(name).with_description(text).with_unit("s");
            histogram.with_boundaries(BUCKETS.to_vec()).build()
        };
        Self { operation: histogram(operation, operation_text), session: histogram(session, session_text) }
    }
}

/// The measurement of a request.
#[derive(Debug)]
pub(super) struct Measured {
    side: Side,
    started: Instant,
    attributes: Vec<KeyValue>,
}

impl Measured {
    pub(super) fn start(info: &RequestInfo<'_>) -> Self {
        let mut attributes = of_session(info.transport, info.version);
        attributes.push(KeyValue::new("mcp.method.name", info.method));
        if let (Side::Client, Some((host, port))) = (info.side, info.peer) {
            attributes.push(KeyValue::new("server.address", host.to_owned()));
            attributes.extend(port.map(|port| KeyValue::new("server.port", i64::from(port))));
        }
        Self { side: info.side, started: Instant::now(), attributes }
    }

    pub(super) fn attribute(&mut self, name: &'static str, value: &str) {
        self.attributes.push(KeyValue::new(name, value.to_owned()));
    }

    pub(super) fn end(&mut self) {
        Durations::of(self.side).operation.record(self.started.elapsed().as_secs_f64(), &self.attributes);
    }
}

/// A guard that measures a session.
#[derive(Debug)]
pub struct SessionTimer {
    side: Side,
    started: Instant,
    attributes: Vec<KeyValue>,
}

impl SessionTimer {
    /// Starts a session.
    pub fn start(side: Side, transport: Transport, version: Option<&str>) -> Self {
        Self { side, started: Instant::now(), attributes: of_session(transport, version) }
    }
}

impl Drop for SessionTimer {
    fn drop(&mut self) {
        Durations::of(self.side).session.record(self.started.elapsed().as_secs_f64(), &self.attributes);
    }
}

fn of_session(transport: Transport, version: Option<&str>) -> Vec<KeyValue> {
    let mut attributes = vec![KeyValue::new("network.transport", transport.network())];
    attributes.extend(transport.protocol().map(|name| KeyValue::new("network.protocol.name", name)));
    attributes.extend(version.map(|version| KeyValue::new("mcp.protocol.version", version.to_owned())));
    attributes
}

/// Makes a span a child of that of the other side. Returns false if no layer exports spans, or the parent is invalid.
pub(super) fn set_parent(span: &Span, parent: &TraceParent) -> bool {
    let Some(remote) = parse(parent) else { return false };
    let ambient = Span::current().context().span().span_context().clone();
    if span.set_parent(Context::new().with_remote_span_context(remote)).is_err() {
        return false;
    }
    // The span of the HTTP request, if the host records it.
    span.add_link(ambient);
    true
}

/// Returns the context of a span that a layer exports.
pub(super) fn trace_parent(span: &Span) -> Option<TraceParent> {
    let context = span.context();
    let span = context.span();
    let context = span.span_context();
    let tracestate = context.trace_state().header();
    context.is_valid().then(|| TraceParent {
        traceparent: format!("00-{}-{}-{:02x}", context.trace_id(), context.span_id(), context.trace_flags().to_u8()),
        tracestate: (!tracestate.is_empty()).then_some(tracestate),
    })
}

fn parse(parent: &TraceParent) -> Option<SpanContext> {
    let mut parts = parent.traceparent.split('-');
    let [version, trace, span, flags] = [parts.next()?, parts.next()?, parts.next()?, parts.next()?];
    let is_known = version.len() == 2 && version != "ff" && (version != "00" || parts.next().is_none());
    let has_lengths = trace.len() == 32 && span.len() == 16 && flags.len() == 2;
    if !is_known || !has_lengths {
        return None;
    }
    let flags = TraceFlags::new(u8::from_str_radix(flags, 16).ok()? & 1);
    // An invalid `tracestate` is dropped, as the specification requires.
    let state = parent.tracestate.as_deref().and_then(|state| TraceState::from_str(state).ok()).unwrap_or_default();
    let context = SpanContext::new(TraceId::from_hex(trace).ok()?, SpanId::from_hex(span).ok()?, flags, true, state);
    context.is_valid().then_some(context)
}
