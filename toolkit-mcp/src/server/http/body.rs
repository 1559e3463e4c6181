//! Response bodies: complete ones and event streams.

use std::convert::Infallible;
use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::Stream;
use http_body::{Frame, SizeHint};
use toolkit_http::EventStreamPermit;

type Events = Pin<Box<dyn Stream<Item = Bytes> + Send>>;

/// The body of a response: complete, or an event stream.
///
/// # Examples
///
/// ```
/// # use toolkit::{Catalog, Dispatcher};
/// # use toolkit_mcp::server::Server;
/// use http::Request;
/// use http_body_util::BodyExt as _;
/// use tower_service::Service as _;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let request = Request::post("/mcp")
///     .header("host", "localhost")
///     .header("content-type", "application/json")
///     .header("accept", "application/json, text/event-stream")
///     .body(r#"{"jsonrpc": "2.0", "id": 1, "method": "ping"}"#.to_owned())?;
/// let response = server.http().into_service().call(request).await?;
/// let bytes = response.into_body().collect().await?.to_bytes();
/// assert_eq!(bytes, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
/// # Ok(())
/// # }
/// ```
pub struct Body(Kind);

enum Kind {
    Whole(Bytes),
    Events {
        events: Events,
        /// Held until the stream ends.
        _permit: Option<EventStreamPermit>,
    },
}

impl Body {
    pub(super) fn empty() -> Self {
        Self::whole(Bytes::new())
    }

    pub(super) fn whole(bytes: impl Into<Bytes>) -> Self {
        Self(Kind::Whole(bytes.into()))
    }

    pub(super) fn events(events: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self(Kind::Events { events: Box::pin(events), _permit: None })
    }

    /// Creates a body whose parts are sent as soon as the stream has them, such as an event stream of a
    /// [`Route`](super::Route).
    #[must_use]
    pub fn from_stream(parts: impl Stream<Item = Bytes> + Send + 'static) -> Self {
        Self::events(parts)
    }

    pub(super) fn is_stream(&self) -> bool {
        matches!(self.0, Kind::Events { .. })
    }

    /// Holds a permit until the stream ends.
    pub(super) fn holding(self, permit: Option<EventStreamPermit>) -> Self {
        match self.0 {
            Kind::Events { events, .. } => Self(Kind::Events { events, _permit: permit }),
            whole => Self(whole),
        }
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(bytes: T) -> Self {
        Self::whole(bytes)
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match &mut self.0 {
            Kind::Whole(bytes) if bytes.is_empty() => Poll::Ready(None),
            Kind::Whole(bytes) => Poll::Ready(Some(Ok(Frame::data(std::mem::take(bytes))))),
            Kind::Events { events, .. } => {
                events.as_mut().poll_next(cx).map(|event| event.map(|event| Ok(Frame::data(event))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(&self.0, Kind::Whole(bytes) if bytes.is_empty())
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Events { .. } => SizeHint::default(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Whole(bytes) => write!(f, "{} bytes", bytes.len()),
            Kind::Events { .. } => f.write_str("events"),
        }
    }
}
