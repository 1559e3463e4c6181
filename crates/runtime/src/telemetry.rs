//! Requests of MCP as spans and measurements, by the semantic conventions of OpenTelemetry for MCP (status "development"
//! as of semconv 1.41).
//!
//! The spans are those of `tracing`. With the feature `opentelemetry`, they continue the trace of the other side, and the
//! meter provider that is set when the first request ends receives the durations.

#[cfg(feature = "opentelemetry")]
mod measured;

use tracing::{Span, field};

pub use self::measured::SessionTimer;
use self::measured::{Measured, set_parent, trace_parent};

/// The side of a connection that observes a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The sender of requests.
    Client,
    /// The receiver of requests.
    Server,
}

/// The transport of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// The stdin and stdout of a process.
    Pipe,
    /// HTTP over TCP.
    Http,
}

/// The W3C Trace Context of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The value of `traceparent`.
    pub traceparent: String,
    /// The value of `tracestate`, unless it is empty.
    pub tracestate: Option<String>,
}

/// The attributes of a request that are known before it is handled.
#[derive(Clone, Copy, Debug)]
pub struct RequestInfo<'r> {
    /// The side that observes the request.
    pub side: Side,
    /// The method; see [`known_method`].
    pub method: &'static str,
    /// The transport of the connection.
    pub transport: Transport,
    /// The protocol version of the connection.
    pub version: Option<&'r str>,
    /// The id of the session, over HTTP.
    pub session: Option<&'r str>,
    /// The id of the request.
    pub id: Option<&'r str>,
    /// The host and the port of the other side.
    pub peer: Option<(&'r str, Option<u16>)>,
}

/// What a request is about.
#[derive(Clone, Copy, Debug)]
pub enum RequestTarget<'r> {
    /// A tool that exists.
    Tool(&'r str),
    /// A prompt that exists.
    Prompt(&'r str),
    /// The URI of a resource, which is not a part of the name of the span.
    Resource(&'r str),
}

/// The end of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestOutcome {
    /// A result.
    Ok,
    /// A result with `isError`.
    ToolError,
    /// An error of JSON-RPC with this code.
    Rpc(i32),
    /// No response, for this reason.
    Failed(&'static str),
}

/// The observation of one request: its span, and the measurement of its duration. Dropping it before it has ended records
/// a cancellation.
#[derive(Debug)]
pub struct ObservedRequest {
    method: &'static str,
    span: Span,
    measured: Measured,
    has_ended: bool,
}

impl ObservedRequest {
    /// Returns true if spans or measurements are collected.
    pub fn is_wanted() -> bool {
        cfg!(feature = "opentelemetry") || tracing::enabled!(tracing::Level::INFO)
    }

    /// Starts the observation. The span is a child of the current one, or of `parent` if there is one.
    pub fn start(info: &RequestInfo<'_>, parent: Option<&TraceParent>) -> Self {
        let (kind, address, port) = match info.side {
            Side::Client => ("client", "server.address", "server.port"),
            Side::Server => ("server", "client.address", "client.port"),
        };
        let span = tracing::info_span!(
            "mcp",
            otel.name = info.method,
            otel.kind = kind,
            otel.status_code = field::Empty,
            mcp.method.name = info.method,
            mcp.protocol.version = info.version,
            mcp.session.id = info.session,
            mcp.resource.uri = field::Empty,
            jsonrpc.request.id = info.id,
            gen_ai.operation.name = field::Empty,
            gen_ai.tool.name = field::Empty,
            gen_ai.prompt.name = field::Empty,
            rpc.response.status_code = field::Empty,
            error.type = field::Empty,
            network.transport = info.transport.network(),
            network.protocol.name = info.transport.protocol(),
            server.address = field::Empty,
            server.port = field::Empty,
            client.address = field::Empty,
            client.port = field::Empty,
            traceparent = field::Empty,
        );
        if !span.is_disabled() {
            if let Some((host, number)) = info.peer {
                span.record(address, host);
                if let Some(number) = number {
                    span.record(port, number);
                }
            }
            if let Some(parent) = parent
                && !set_parent(&span, parent)
            {
                // Without OpenTelemetry, the log shows it.
                span.record("traceparent", &*parent.traceparent);
            }
        }
        Self { method: info.method, span, measured: Measured::start(info), has_ended: false }
    }

    /// Returns the span of the request.
    pub fn span(&self) -> &Span {
        &self.span
    }

    /// Sets what the request is about. Call it before [`trace_parent`](Self::trace_parent), which starts the span.
    pub fn set_target(&mut self, target: RequestTarget<'_>) {
        let (attribute, name) = match target {
            RequestTarget::Tool(name) => ("gen_ai.tool.name", name),
            RequestTarget::Prompt(name) => ("gen_ai.prompt.name", name),
            RequestTarget::Resource(uri) => {
                self.span.record("mcp.resource.uri", uri);
                return;
            }
        };
        if !self.span.is_disabled() {
            self.span.record("otel.name", format!("{} {name}", self.method));
            self.span.record(attribute, name);
        }
        self.measured.attribute(attribute, name);
        if let RequestTarget::Tool(_) = target {
            self.span.record("gen_ai.operation.name", "execute_tool");
            self.measured.attribute("gen_ai.operation.name", "execute_tool");
        }
    }

    /// Sets the id of the request, if it was not known before.
    pub fn set_id(&self, id: &impl std::fmt::Display) {
        if !self.span.is_disabled() {
            self.span.record("jsonrpc.request.id", id.to_string());
        }
    }

    /// Returns the context that makes the span the parent of others, or `None` if it is not a part of a trace.
    pub fn trace_parent(&self) -> Option<TraceParent> {
        if self.span.is_disabled() { None } else { trace_parent(&self.span) }
    }

    /// Ends the observation.
    pub fn end(mut self, outcome: RequestOutcome) {
        self.record_end(outcome);
    }

    fn record_end(&mut self, outcome: RequestOutcome) {
        self.has_ended = true;
        let code;
        let error = match outcome {
            RequestOutcome::Ok => None,
            RequestOutcome::ToolError => Some("tool_error"),
            RequestOutcome::Failed(reason) => Some(reason),
            RequestOutcome::Rpc(number) => {
                code = number.to_string();
                self.span.record("rpc.response.status_code", &*code);
                self.measured.attribute("rpc.response.status_code", &code);
                Some(&*code)
            }
        };
        if let Some(error) = error {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", error);
            self.measured.attribute("error.type", error);
        }
        self.measured.end();
    }
}

impl Drop for ObservedRequest {
    fn drop(&mut self) {
        if !self.has_ended {
            self.record_end(RequestOutcome::Failed("cancelled"));
        }
    }
}

impl Transport {
    fn network(self) -> &'static str {
        match self {
            Transport::Pipe => "pipe",
            Transport::Http => "tcp",
        }
    }

    fn protocol(self) -> Option<&'static str> {
        match self {
            Transport::Pipe => None,
            Transport::Http => Some("http"),
        }
    }
}

/// The methods of requests, in all revisions.
const METHODS: [&str; 24] = [
    "completion/complete",
    "elicitation/create",
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "roots/list",
    "sampling/createMessage",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tasks/update",
    "tools/call",
    "tools/list",
    "_OTHER",
];

/// Returns a method of the protocol, or `_OTHER`, since clients may send any other one.
pub fn known_method(method: &str) -> &'static str {
    METHODS.iter().find(|known| **known == method).unwrap_or(&"_OTHER")
}

/// Spans without OpenTelemetry.
#[cfg(not(feature = "opentelemetry"))]
mod measured {
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
}
