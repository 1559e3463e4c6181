//! Request bodies that share one budget of memory.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use tokio::time::{sleep, timeout};
use toolkit_runtime::{HostGuard, HttpServer, Limits, Rejection, RequestHead};

/// The chunks of a body, after which it ends or hangs.
struct Sent {
    chunks: VecDeque<Bytes>,
    ends: bool,
}

impl Sent {
    fn new(n_bytes: usize, ends: bool) -> Self {
        Self { chunks: [Bytes::from(vec![b' '; n_bytes])].into(), ends }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.chunks.pop_front() {
            Some(chunk) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            None if self.ends => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}

#[tokio::test]
async fn a_body_that_waits_for_room_gets_it_while_small_bodies_come_and_go() {
    let mut limits = Limits::default();
    (limits.max_body_bytes, limits.max_pending_bytes) = (1 << 20, 2 << 20);
    let server = Arc::new(HttpServer::new(limits, HostGuard::local()));
    let read = |n_bytes, ends| {
        let server = Arc::clone(&server);
        let head = RequestHead::new(Request::new(()).into_parts().0);
        async move { server.read(&head, Sent::new(n_bytes, ends)).await.map(drop) }
    };
    let hanging = [900 << 10, 899 << 10].map(|n_bytes| tokio::spawn(read(n_bytes, false)));
    sleep(Duration::from_millis(50)).await;
    let small = async {
        loop {
            read(1 << 10, true).await.unwrap();
            sleep(Duration::from_millis(50)).await;
        }
    };
    let large = timeout(Duration::from_secs(5), read(500 << 10, true));
    tokio::select! {
        read = large => read.expect("an unfinished body is revoked").unwrap(),
        () = small => unreachable!("small bodies do not end"),
    }
    let [largest, _] = hanging;
    assert_eq!(largest.await.unwrap(), Err(Rejection::Memory));
}
