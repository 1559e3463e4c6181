//! The body of a response, which counts towards the budget until it is sent.

use std::pin::Pin;
use std::task::{Context, Poll};

use http::{Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};

use super::connection::Connection;
use super::response_budget::ResponsePermit;

/// The size in bytes from which on a response counts towards the budget.
const SMALL: u64 = 64 << 10;

/// A body that sets its connection to idle and returns its memory when it is dropped.
pub(super) struct Tracked<B> {
    /// `None` for a response that did not fit into the budget.
    body: Option<B>,
    connection: Connection,
    _permit: Option<ResponsePermit>,
}

impl<B: Body> Tracked<B> {
    /// Acquires memory for a response. Without memory, the response is an empty `503`.
    pub(super) async fn track(response: Response<B>, connection: Connection) -> Response<Self> {
        let n_bytes = response.body().size_hint().exact().unwrap_or(0);
        if n_bytes < SMALL {
            return response.map(|body| Self { body: Some(body), connection, _permit: None });
        }
        if let Some(permit) = connection.response(usize::try_from(n_bytes).unwrap_or(usize::MAX)).await {
            return response.map(|body| Self { body: Some(body), connection, _permit: Some(permit) });
        }
        drop(response);
        let mut refused = Response::new(Self { body: None, connection, _permit: None });
        *refused.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
        refused.headers_mut().insert(header::RETRY_AFTER, 1.into());
        refused
    }
}

impl<B: Body + Unpin> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match &mut self.body {
            Some(body) => Pin::new(body).poll_frame(cx),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or_else(|| SizeHint::with_exact(0), Body::size_hint)
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.connection.idle();
    }
}
