//! The span, the measurement and the audit line of a request.

use std::time::Instant;

use serde_json::value::RawValue;
use toolkit::Context;
use toolkit::call::{ErrorKind, TraceContext};
use toolkit::mcp::Revision;
use toolkit_mcp::{Code, LEGACY, Meta, text};
use toolkit_runtime::{
    ObservedRequest, RequestInfo, RequestOutcome, RequestTarget, Side, TraceParent, Transport, known_method,
};
use tracing::{Level, Span};

use super::peer::Peer;
use super::request::Request;

/// The target of the audit lines, for the filter of the log.
const AUDIT: &str = "audit";

/// The maximum length of the name of an unknown tool in an audit line.
const MAX_NAME: usize = 120;

/// The setting of a server for audit lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum AuditLog {
    /// Each call has one.
    On,
    /// None has one.
    #[default]
    Off,
}

/// The observation of a request. Dropping it before the request has ended records a cancellation.
pub(super) struct Observed(Box<Parts>);

struct Parts {
    request: ObservedRequest,
    audit: Option<Audit>,
}

impl Observed {
    /// Starts the observation of a request, if it is wanted. The span continues the trace in `_meta`, or else that of the
    /// HTTP request.
    pub(super) fn start(
        audit: AuditLog,
        method: &str,
        id: &RawValue,
        meta: Option<&Meta<'_>>,
        peer: Peer<'_>,
    ) -> Option<Self> {
        let is_audited =
            audit == AuditLog::On && method == "tools/call" && tracing::enabled!(target: AUDIT, Level::INFO);
        if !is_audited && !ObservedRequest::is_wanted() {
            return None;
        }
        let header = |name| peer.headers().and_then(|headers| headers.get(name)?.to_str().ok());
        let method = known_method(method);
        let declared = meta.and_then(Meta::version);
        let version = declared.as_deref().or_else(|| header("mcp-protocol-version"));
        let id = if id.get().starts_with('"') { text(id.get()) } else { Some(id.get().into()) };
        let address = peer.address.map(|address| address.to_string());
        let info = RequestInfo {
            side: Side::Server,
            method,
            transport: if peer.head.is_some() { Transport::Http } else { Transport::Pipe },
            version: version.filter(|version| LEGACY.contains(version) || *version == Revision::V2026_07_28.as_str()),
            // The name of a pipe is not a session of the protocol.
            session: peer.session.filter(|_| peer.head.is_some()),
            id: id.as_deref(),
            peer: address.as_deref().map(|address| (address, None)),
        };
        let [traceparent, tracestate, _] = meta.map(Meta::trace).unwrap_or_default();
        let parent = match traceparent {
            Some(parent) => Some((parent.into_owned(), tracestate.map(|state| state.into_owned()))),
            None => header("traceparent").map(|parent| (parent.to_owned(), header("tracestate").map(str::to_owned))),
        };
        let parent = parent.map(|(traceparent, tracestate)| TraceParent { traceparent, tracestate });
        let request = ObservedRequest::start(&info, parent.as_ref());
        let audit = is_audited.then(|| Audit {
            subject: peer.caller.and_then(|caller| caller.subject()).map(str::to_owned),
            client: peer.caller.and_then(|caller| caller.client_id()).map(str::to_owned),
            session: info.session.map(str::to_owned),
            traceparent: parent.map(|parent| parent.traceparent),
            address: address.clone(),
            tool: None,
            outcome: ErrorKind::Cancelled.name(),
            code: None,
            started: Instant::now(),
        });
        Some(Self(Box::new(Parts { request, audit })))
    }

    /// Returns the span, in which the request is handled.
    pub(super) fn span(&self) -> &Span {
        self.0.request.span()
    }

    /// Adds the trace context with which backends continue the trace from the span, if a trace contains it.
    pub(super) fn traced(&self, context: Context) -> Context {
        let Some(parent) = self.0.request.trace_parent() else { return context };
        let baggage = context.get::<Request>().and_then(Request::baggage).map(str::to_owned);
        let trace = TraceContext::from_values([Some(parent.traceparent), parent.tracestate, baggage]);
        trace.into_iter().fold(context, Context::with)
    }

    /// Sets the tool, prompt or resource of the request.
    pub(super) fn set_target(&mut self, target: RequestTarget<'_>) {
        if let (Some(audit), RequestTarget::Tool(name)) = (&mut self.0.audit, target) {
            audit.tool = Some(name.to_owned());
        }
        self.0.request.set_target(target);
    }

    /// Sets the name of a tool that does not exist. Clients choose it, so that only the audit line contains it.
    pub(super) fn set_unknown_tool(&mut self, name: &str) {
        if let Some(audit) = &mut self.0.audit {
            audit.tool = Some(name.chars().take(MAX_NAME).collect());
        }
    }

    /// Adds the span of the call to its audit line.
    fn complete(&mut self, outcome: &'static str, code: Option<i32>) {
        if let Some(audit) = &mut self.0.audit {
            (audit.outcome, audit.code) = (outcome, code);
            if let Some(own) = self.0.request.trace_parent() {
                audit.traceparent = Some(own.traceparent);
            }
        }
    }

    /// Ends the observation: with the kind of an error, and with the code of an error of JSON-RPC.
    pub(super) fn end(mut self, failure: Option<ErrorKind>, code: Option<Code>) {
        self.complete(failure.map_or("ok", |failure| failure.name()), code.map(|code| code as i32));
        self.0.request.end(match (failure, code) {
            (_, Some(code)) => RequestOutcome::Rpc(code as i32),
            (None, None) => RequestOutcome::Ok,
            (Some(ErrorKind::Cancelled), None) => RequestOutcome::Failed(ErrorKind::Cancelled.name()),
            (Some(_), None) => RequestOutcome::ToolError,
        });
    }

    /// Ends the observation of a request that the token of the caller does not grant.
    pub(super) fn deny(mut self) {
        let reason = ErrorKind::MissingRequirements.name();
        self.complete(reason, None);
        self.0.request.end(RequestOutcome::Failed(reason));
    }
}

/// The audit line of a call, which is written on drop. It contains neither arguments nor results.
struct Audit {
    subject: Option<String>,
    client: Option<String>,
    session: Option<String>,
    address: Option<String>,
    traceparent: Option<String>,
    tool: Option<String>,
    outcome: &'static str,
    code: Option<i32>,
    started: Instant,
}

impl Drop for Audit {
    fn drop(&mut self) {
        let micros = u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX);
        tracing::info!(
            target: AUDIT,
            parent: None,
            tool = self.tool.as_deref(),
            outcome = self.outcome,
            code = self.code,
            duration_us = micros,
            subject = self.subject.as_deref(),
            client_id = self.client.as_deref(),
            session = self.session.as_deref(),
            address = self.address.as_deref(),
            traceparent = self.traceparent.as_deref(),
            "call",
        );
    }
}
