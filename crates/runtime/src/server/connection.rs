//! The handle of one connection.

use std::net::IpAddr;
use std::sync::Arc;

use http::HeaderMap;

use super::connections::{ConnectionState, Connections};
use super::response_budget::ResponsePermit;

/// The connection of a request, from the extensions of the request. Clones share the connection.
///
/// # Examples
///
/// ```
/// use http::{Request, Response, StatusCode};
/// use toolkit_runtime::Connection;
///
/// fn answer<B>(request: &Request<B>) -> Response<String> {
///     let connection = request.extensions().get::<Connection>();
///     let is_health_check = request.uri().path() == "/healthz";
///     if !is_health_check && connection.is_some_and(Connection::is_reserved) {
///         let mut response = Response::new("too many connections\n".to_owned());
///         *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
///         return response;
///     }
///     Response::new("ok\n".to_owned())
/// }
///
/// // A request that did not arrive through `serve` has no connection.
/// assert_eq!(answer(&Request::new(())).status(), StatusCode::OK);
/// ```
#[derive(Clone, Debug)]
pub struct Connection(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    connections: Connections,
    state: Arc<ConnectionState>,
}

impl Connection {
    /// Admits a connection from an address; see [`Connections::admit`].
    pub(super) fn admit(connections: &Connections, address: IpAddr) -> Option<Self> {
        let state = connections.admit(address)?;
        Some(Self(Arc::new(Inner { connections: connections.clone(), state })))
    }

    /// Returns the address at the other end of the connection, which may be that of a proxy.
    #[must_use]
    pub fn address(&self) -> IpAddr {
        self.0.state.address
    }

    /// Returns the address of the client that sent these headers: that of the connection, or the one that a
    /// [trusted proxy](super::Limits::trusted_proxies) passes on.
    #[must_use]
    pub fn client(&self, headers: &HeaderMap) -> IpAddr {
        self.0.connections.trusted_proxies().client(self.address(), headers)
    }

    /// Returns true if the connection was accepted from the reserve and there is still no room outside of it. On such a
    /// connection, answer only health checks and authenticated clients.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.0.state.is_in_reserve() && !self.0.connections.promote(&self.0.state)
    }

    /// Returns a permit for an event stream on this connection, or `None` if the limit of event streams is reached, in
    /// total or for this address.
    #[must_use]
    pub fn event_stream(&self) -> Option<EventStreamPermit> {
        let is_admitted = self.0.connections.begin_event_stream(self.address());
        is_admitted.then(|| EventStreamPermit(self.clone()))
    }

    pub(super) async fn response(&self, n_bytes: usize) -> Option<ResponsePermit> {
        self.0.connections.response(n_bytes).await
    }

    pub(super) fn idle(&self) {
        self.0.state.idle();
    }

    pub(super) fn running(&self) {
        self.0.state.running();
    }

    /// Enters the phase `Receiving`, until the guard is dropped.
    pub(super) fn receiving(&self) -> Receiving {
        self.0.state.receiving();
        Receiving(self.clone())
    }

    pub(super) fn set_blocked(&self, is_blocked: bool) {
        self.0.state.set_blocked(is_blocked);
    }

    pub(super) async fn evicted(&self) {
        self.0.state.evicted().await;
    }

    pub(super) fn forget(&self) {
        self.0.connections.forget(&self.0.state);
    }
}

/// A guard for the phase `Receiving`.
#[derive(Debug)]
pub(super) struct Receiving(Connection);

impl Drop for Receiving {
    fn drop(&mut self) {
        self.0.running();
    }
}

/// A permit for an event stream. Dropping it returns it.
#[derive(Debug)]
pub struct EventStreamPermit(Connection);

impl Drop for EventStreamPermit {
    fn drop(&mut self) {
        self.0.0.connections.end_event_stream(self.0.address());
    }
}
