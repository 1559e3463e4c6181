//! The spans and the measurements of requests and sessions.

use rmcp::model::{ClientRequest, RequestMetaObject};
use rmcp::service::{ClientLifecycleMode, ServiceError};
use serde_json::Value;
use toolkit_runtime::{
    ObservedRequest, RequestInfo, RequestOutcome, RequestTarget, SessionTimer, Side, Transport, known_method,
};
use tracing::Instrument as _;

use super::remote::{Remote, Target};

/// The server of a connection, as spans describe it.
struct Server {
    transport: Transport,
    address: Option<(String, Option<u16>)>,
}

impl Server {
    fn of(remote: &Remote) -> Self {
        match &*remote.target {
            Target::Stdio(_) => Self { transport: Transport::Pipe, address: None },
            Target::Http(endpoint) => {
                let url = &endpoint.url;
                let address = url.host_str().map(|host| (host.to_owned(), url.port_or_known_default()));
                Self { transport: Transport::Http, address }
            }
        }
    }

    /// Starts the observation of a request, as a child of the current span.
    fn observe(&self, method: &str, version: Option<&str>) -> ObservedRequest {
        let info = RequestInfo {
            side: Side::Client,
            method: known_method(method),
            transport: self.transport,
            version,
            session: None,
            id: None,
            peer: self.address.as_ref().map(|(host, port)| (&**host, *port)),
        };
        ObservedRequest::start(&info, None)
    }
}

/// Observes the first request of a connection, in which client and server agree on a revision. A server that does not know
/// `server/discover` receives `initialize` within it.
pub(super) async fn negotiation<T, E>(
    remote: &Remote,
    mode: &ClientLifecycleMode,
    negotiating: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    let method = match mode {
        ClientLifecycleMode::Initialize => "initialize",
        _ => "server/discover",
    };
    let observed = Server::of(remote).observe(method, None);
    let negotiated = negotiating.instrument(observed.span().clone()).await;
    observed.end(match &negotiated {
        Ok(_) => RequestOutcome::Ok,
        Err(_) => RequestOutcome::Failed("connection_failed"),
    });
    negotiated
}

/// The side of a connection that spans describe.
pub(super) struct Observer {
    server: Server,
    version: Option<String>,
    /// Measures the time until the connection ends.
    _session: SessionTimer,
}

impl Observer {
    /// Creates the observer of a connection, which begins now.
    pub(super) fn new(remote: &Remote, version: Option<String>) -> Self {
        let server = Server::of(remote);
        let session = SessionTimer::start(Side::Client, server.transport, version.as_deref());
        Self { server, version, _session: session }
    }

    /// Starts the observation of a request, as a child of the current span.
    pub(super) fn start(&self, request: &ClientRequest) -> ObservedRequest {
        let mut observed = self.server.observe(request.method(), self.version.as_deref());
        if let Some(target) = target(request) {
            observed.set_target(target);
        }
        observed
    }
}

/// Returns what a request is about.
fn target(request: &ClientRequest) -> Option<RequestTarget<'_>> {
    Some(match request {
        ClientRequest::CallToolRequest(request) => RequestTarget::Tool(&request.params.name),
        ClientRequest::GetPromptRequest(request) => RequestTarget::Prompt(&request.params.name),
        ClientRequest::ReadResourceRequest(request) => RequestTarget::Resource(&request.params.uri),
        ClientRequest::CustomRequest(request) => {
            let text = |name: &str| request.params.as_ref()?.get(name)?.as_str();
            match &*request.method {
                "tools/call" => RequestTarget::Tool(text("name")?),
                "prompts/get" => RequestTarget::Prompt(text("name")?),
                "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
                    RequestTarget::Resource(text("uri")?)
                }
                _ => return None,
            }
        }
        _ => return None,
    })
}

/// Adds the context of the request's span to `_meta`, in place of that of the caller.
pub(super) fn with_trace(meta: Option<RequestMetaObject>, observed: &ObservedRequest) -> Option<RequestMetaObject> {
    let Some(parent) = observed.trace_parent() else { return meta };
    let mut meta = meta.unwrap_or_default();
    meta.set_traceparent(parent.traceparent);
    if let Some(tracestate) = parent.tracestate {
        meta.set_tracestate(tracestate);
    }
    Some(meta)
}

/// Returns how a request has ended.
pub(super) fn outcome(answer: &Result<Value, ServiceError>) -> RequestOutcome {
    match answer {
        Ok(result) if result.get("isError").is_some_and(|is_error| is_error == true) => RequestOutcome::ToolError,
        Ok(_) => RequestOutcome::Ok,
        Err(ServiceError::McpError(error)) => RequestOutcome::Rpc(error.code.0),
        Err(ServiceError::TransportSend(_) | ServiceError::TransportClosed) => {
            RequestOutcome::Failed("connection_failed")
        }
        Err(ServiceError::UnexpectedResponse) => RequestOutcome::Failed("invalid_response"),
        Err(ServiceError::Timeout { .. }) => RequestOutcome::Failed("timed_out"),
        Err(_) => RequestOutcome::Failed("_OTHER"),
    }
}
