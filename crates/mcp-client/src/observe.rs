//! The spans and the measurements of requests and sessions.

use rmcp::model::{ClientRequest, RequestMetaObject};
use rmcp::service::ServiceError;
use serde_json::Value;
use toolkit_runtime::{
    ObservedRequest, RequestInfo, RequestOutcome, RequestTarget, SessionTimer, Side, Transport, known_method,
};

use super::remote::{Remote, Target};

/// The side of a connection that spans describe.
pub(super) struct Observer {
    transport: Transport,
    server: Option<(String, Option<u16>)>,
    version: Option<String>,
    /// Measures the time until the connection ends.
    _session: SessionTimer,
}

impl Observer {
    /// Creates the observer of a connection, which begins now.
    pub(super) fn new(remote: &Remote, version: Option<String>) -> Self {
        let (transport, server) = match &*remote.target {
            Target::Stdio(_) => (Transport::Pipe, None),
            Target::Http(endpoint) => {
                let url = &endpoint.url;
                (Transport::Http, url.host_str().map(|host| (host.to_owned(), url.port_or_known_default())))
            }
        };
        let session = SessionTimer::start(Side::Client, transport, version.as_deref());
        Self { transport, server, version, _session: session }
    }

    /// Starts the observation of a request, as a child of the current span.
    pub(super) fn start(&self, request: &ClientRequest) -> ObservedRequest {
        let info = RequestInfo {
            side: Side::Client,
            method: known_method(request.method()),
            transport: self.transport,
            version: self.version.as_deref(),
            session: None,
            id: None,
            peer: self.server.as_ref().map(|(host, port)| (&**host, *port)),
        };
        let mut observed = ObservedRequest::start(&info, None);
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
