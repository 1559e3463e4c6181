//! The head of a request, and the reasons for which a server rejects one before its protocol reads it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use http::request::Parts;
use http::{Extensions, HeaderMap, Response, StatusCode, header};

use super::connections::Connection;
use super::response::Body;
use crate::headers::{accepts, media_type};

/// The head of a request, and the connection on which it has arrived. Clones share both.
///
/// # Examples
///
/// ```
/// use http::Request;
/// use toolkit_runtime::{Rejection, RequestHead};
///
/// let request = Request::get("/").header("accept", "text/event-stream").body(()).unwrap();
/// let head = RequestHead::new(request.into_parts().0);
/// assert!(head.accepts_events());
/// assert_eq!(head.check_json(), Err(Rejection::NotJson));
/// // The server of the host has accepted its connection.
/// assert_eq!(head.client(), None);
/// ```
#[derive(Clone, Debug)]
pub struct RequestHead {
    /// The method, the target and the headers.
    pub parts: Arc<Parts>,
    connection: Option<Connection>,
}

impl RequestHead {
    /// Creates the head of a request whose connection another server has accepted, and limits.
    pub fn new(mut parts: Parts) -> Self {
        let extensions = std::mem::take(&mut parts.extensions);
        if !extensions.is_empty() {
            parts.extensions.insert(Arc::new(extensions));
        }
        Self { parts: Arc::new(parts), connection: None }
    }

    pub(super) fn of_connection(parts: Parts, connection: Connection) -> Self {
        Self { parts: Arc::new(parts), connection: Some(connection) }
    }

    /// Returns the path of the target.
    pub fn path(&self) -> &str {
        self.parts.uri.path()
    }

    /// Returns the headers.
    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    /// Returns the extensions that the layers of the host have inserted, or `None` if there are none. They are one value,
    /// which the calls of the request share: a batch has several, and a call may outlive the request.
    pub fn extensions(&self) -> Option<&Arc<Extensions>> {
        self.parts.extensions.get()
    }

    /// Returns the address of the client: that of the connection, or the one that a
    /// [trusted proxy](super::Limits::trusted_proxies) passes on.
    pub fn client(&self) -> Option<IpAddr> {
        Some(self.connection()?.client(self.headers()))
    }

    pub(super) fn connection(&self) -> Option<&Connection> {
        self.connection.as_ref()
    }

    /// Checks that the body is JSON. A web page cannot send JSON to another origin without a preflight request.
    ///
    /// # Errors
    ///
    /// Returns [`Rejection::NotJson`] for another `Content-Type`.
    pub fn check_json(&self) -> Result<(), Rejection> {
        let sent = self.headers().get(header::CONTENT_TYPE).and_then(|sent| sent.to_str().ok()).unwrap_or_default();
        media_type(sent).eq_ignore_ascii_case("application/json").then_some(()).ok_or(Rejection::NotJson)
    }

    /// Returns true if the client accepts an event stream as the response.
    pub fn accepts_events(&self) -> bool {
        let mut accepted = self.headers().get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
        accepted.any(|value| accepts(value, "text/event-stream"))
    }

    /// Checks that there is room for the request, if only in the reserve. Health checks are answered without.
    ///
    /// # Errors
    ///
    /// Returns the limit of connections that is reached.
    pub fn check_room(&self) -> Result<(), Rejection> {
        self.connection().map_or(Ok(()), Connection::check_room)
    }

    /// Checks that there is room for the request outside of the reserve, which is for authenticated clients.
    ///
    /// # Errors
    ///
    /// Returns the limit of connections that is reached.
    pub fn check_reserve(&self) -> Result<(), Rejection> {
        self.connection().map_or(Ok(()), Connection::check_reserve)
    }

    /// Counts a response that is a stream towards the limit of event streams until it ends, and towards the share of its caller,
    /// or else of its address. A connection that another server has accepted has no limit.
    ///
    /// # Errors
    ///
    /// Returns the limit that is reached, in total or for this caller.
    pub fn count_events(
        &self,
        mut response: Response<Body>,
        caller: Option<&str>,
    ) -> Result<Response<Body>, Rejection> {
        if let (Some(connection), Some(permit)) = (self.connection(), response.body_mut().permit()) {
            *permit = Some(connection.event_stream(caller)?);
        }
        Ok(response)
    }
}

/// The reason why a server rejects a request before its protocol reads it.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::Rejection;
///
/// assert_eq!(Rejection::TooLarge(4096).status(), 413);
/// assert_eq!(Rejection::TooLarge(4096).to_string(), "the request body exceeds the limit of 4096 bytes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rejection {
    /// `Host` is missing, repeated, or not accepted: `403`.
    Host,
    /// `Origin` is repeated or not accepted: `403`.
    Origin,
    /// The `Content-Type` is not `application/json`: `415`.
    NotJson,
    /// The body exceeds this number of bytes: `413`.
    TooLarge(usize),
    /// The body did not arrive within this time: `408`.
    TimedOut(Duration),
    /// The connection ended before the body: `400`.
    Incomplete,
    /// The body was revoked to make room for others: `503`.
    Memory,
    /// This number of connections is open: `503`.
    Connections(usize),
    /// This number of connections of one address is open: `503`.
    ConnectionsOfAddress(usize),
    /// This number of event streams is open: `503`.
    EventStreams(usize),
    /// This number of event streams of one caller is open, its share: `503`.
    EventStreamsOfCaller(usize),
}

impl Rejection {
    /// Returns the status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Self::Host | Self::Origin => StatusCode::FORBIDDEN,
            Self::NotJson => StatusCode::UNSUPPORTED_MEDIA_TYPE,
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TimedOut(_) => StatusCode::REQUEST_TIMEOUT,
            Self::Incomplete => StatusCode::BAD_REQUEST,
            Self::Memory
            | Self::Connections(_)
            | Self::ConnectionsOfAddress(_)
            | Self::EventStreams(_)
            | Self::EventStreamsOfCaller(_) => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// Returns the seconds of the header `Retry-After`, if another attempt may succeed.
    pub fn retry_after(self) -> Option<u64> {
        (self.status() == StatusCode::SERVICE_UNAVAILABLE).then_some(1)
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host => f.write_str("the server does not accept requests for this `Host`"),
            Self::Origin => f.write_str("the server does not accept requests from this `Origin`"),
            Self::NotJson => f.write_str("the `Content-Type` of a message must be `application/json`"),
            Self::TooLarge(max) => write!(f, "the request body exceeds the limit of {max} bytes"),
            Self::TimedOut(timeout) => write!(f, "the request body did not arrive within {timeout:?}"),
            Self::Incomplete => f.write_str("the request body is incomplete"),
            Self::Memory => f.write_str("the server has no memory left for this request; try again later"),
            Self::Connections(max) => write!(f, "the limit of {max} connections is reached; try again later"),
            Self::ConnectionsOfAddress(max) => {
                write!(f, "the limit of {max} connections of one address is reached; try again later")
            }
            Self::EventStreams(max) => write!(f, "the limit of {max} event streams is reached; try again later"),
            Self::EventStreamsOfCaller(max) => {
                write!(f, "the limit of {max} event streams of one caller is reached, its share; try again later")
            }
        }
    }
}

impl std::error::Error for Rejection {}
