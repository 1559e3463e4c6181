//! The body of a response, while its connection waits for the server.

use std::pin::Pin;
use std::task::{Context, Poll};

use http_body::{Body, Frame, SizeHint};

use super::connection::Connection;

/// A body whose end makes its connection an idle one.
pub(super) struct Tracked<B> {
    body: B,
    connection: Connection,
}

impl<B> Tracked<B> {
    pub(super) fn new(body: B, connection: Connection) -> Self {
        Self { body, connection }
    }
}

impl<B: Body + Unpin> Body for Tracked<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for Tracked<B> {
    fn drop(&mut self) {
        self.connection.idle();
    }
}
