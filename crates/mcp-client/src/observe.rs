//! The spans and the measurements of requests and sessions.

use toolkit_runtime::{ObservedRequest, RequestInfo, RequestOutcome, SessionTimer, Side, Transport, known_method};
use tracing::Instrument as _;

use super::failure::Failure;
use super::meta::Meta;
use super::outgoing::Request;
use super::peer::PeerAnswer;
use super::remote::{Remote, RemoteTarget};

/// The server of a connection, as spans describe it.
struct Server {
    transport: Transport,
    address: Option<(String, Option<u16>)>,
}

impl Server {
    fn of(remote: &Remote) -> Self {
        match &*remote.target {
            RemoteTarget::Stdio(_) => Self { transport: Transport::Pipe, address: None },
            RemoteTarget::Http(endpoint) => {
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
    method: &str,
    negotiating: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
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
    pub(super) fn start(&self, request: &Request) -> ObservedRequest {
        let mut observed = self.server.observe(request.method, self.version.as_deref());
        if let Some(target) = request.target() {
            observed.set_target(target);
        }
        observed
    }
}

/// Adds the context of the request's span to `_meta`, in place of that of the caller.
pub(super) fn with_trace(meta: &mut Meta, observed: &ObservedRequest) {
    let Some(parent) = observed.trace_parent() else { return };
    meta.set_text("traceparent", &parent.traceparent);
    if let Some(tracestate) = parent.tracestate {
        meta.set_text("tracestate", &tracestate);
    }
}

/// Returns how a request has ended.
pub(super) fn outcome(answer: &PeerAnswer) -> RequestOutcome {
    match answer {
        Ok(result) if result.is_error() => RequestOutcome::ToolError,
        Ok(_) => RequestOutcome::Ok,
        Err(Failure::Rpc(error)) => RequestOutcome::Rpc(error.code),
        Err(Failure::Invalid(_) | Failure::TooLarge(_)) => RequestOutcome::Failed("invalid_response"),
        Err(_) => RequestOutcome::Failed("connection_failed"),
    }
}
