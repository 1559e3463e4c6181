//! Request bodies that share one budget of memory.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use tokio::time::{sleep, timeout};
use toolkit_runtime::{HostGuard, HttpServer, Limits, Rejection, RequestHead};

/// The chunks of a body, after which it ends, hangs or is cut off. Counts the chunks that are left.
struct Sent {
    chunks: VecDeque<Bytes>,
    end: End,
    n_left: Arc<AtomicUsize>,
}

#[derive(Clone, Copy, PartialEq)]
enum End {
    Complete,
    Hangs,
    CutOff,
}

impl Sent {
    fn new(n_bytes: usize, ends: bool) -> Self {
        let end = if ends { End::Complete } else { End::Hangs };
        Self::chunks(vec![Bytes::from(vec![b' '; n_bytes])], end)
    }

    fn chunks(chunks: Vec<Bytes>, end: End) -> Self {
        Self { n_left: Arc::new(chunks.len().into()), chunks: chunks.into(), end }
    }
}

impl Body for Sent {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<std::io::Result<Frame<Bytes>>>> {
        let chunk = self.chunks.pop_front();
        self.n_left.store(self.chunks.len(), Ordering::Relaxed);
        match (chunk, self.end) {
            (Some(chunk), _) => Poll::Ready(Some(Ok(Frame::data(chunk)))),
            (None, End::Complete) => Poll::Ready(None),
            (None, End::Hangs) => Poll::Pending,
            (None, End::CutOff) => Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into()))),
        }
    }
}

fn server(max_body_bytes: usize, max_pending_bytes: usize) -> HttpServer {
    let mut limits = Limits::default();
    (limits.max_body_bytes, limits.max_pending_bytes) = (max_body_bytes, max_pending_bytes);
    limits.io_timeout = Duration::from_millis(100);
    HttpServer::new(limits, HostGuard::local())
}

fn head(headers: &[(&str, &str)]) -> RequestHead {
    let mut request = Request::builder();
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    RequestHead::new(request.body(()).unwrap().into_parts().0)
}

#[tokio::test]
async fn a_body_is_what_its_chunks_are_together() {
    let server = server(1 << 10, 0);
    for chunks in [vec![], vec![""], vec!["a"], vec!["ab", "c"], vec!["", "a", "", "bc", "d"]] {
        let expected = chunks.concat();
        let sent = Sent::chunks(chunks.into_iter().map(Bytes::from).collect(), End::Complete);
        for length in ["0", "4", "1000", "many"] {
            let sent = Sent::chunks(sent.chunks.clone().into(), End::Complete);
            let received = server.read(&head(&[("content-length", length)]), sent).await.unwrap();
            assert_eq!(received.bytes(), expected.as_bytes());
            assert_eq!(received.into_parts().0, expected.as_bytes());
        }
    }
}

#[tokio::test]
async fn a_body_is_rejected_for_its_size_its_time_and_its_end() {
    let server = server(10, 0);
    let chunk = |n_bytes| Bytes::from(vec![b' '; n_bytes]);
    for (length, chunks, end, expected) in [
        ("10", vec![10], End::Complete, None),
        ("", vec![9, 1], End::Complete, None),
        ("", vec![11], End::Complete, Some(Rejection::TooLarge(10))),
        ("", vec![9, 2], End::Complete, Some(Rejection::TooLarge(10))),
        ("11", vec![1], End::Complete, Some(Rejection::TooLarge(10))),
        ("10", vec![9], End::CutOff, Some(Rejection::Incomplete)),
        ("10", vec![9], End::Hangs, Some(Rejection::TimedOut(Duration::from_millis(100)))),
    ] {
        let sent = Sent::chunks(chunks.iter().map(|n_bytes| chunk(*n_bytes)).collect(), end);
        let read = server.read(&head(&[("content-length", length)]), sent).await;
        assert_eq!(read.err(), expected, "{length} {chunks:?}");
    }
}

#[tokio::test]
async fn what_arrives_of_a_body_that_is_too_large_is_dropped_unless_its_client_waits() {
    let chunks = |n_chunks, n_bytes| vec![Bytes::from(vec![b' '; n_bytes]); n_chunks];
    let server = server(10, 0);
    for (headers, chunks, end, n_left) in [
        (vec![], chunks(5, 11), End::Complete, 0),
        (vec![], chunks(5, 11), End::Hangs, 0),
        (vec![("content-length", "55")], chunks(5, 11), End::Complete, 0),
        (vec![("content-length", "55"), ("expect", "100-continue")], chunks(5, 11), End::Complete, 5),
        // The bytes that are dropped have a limit too: one chunk is read, and of the others 64 MiB and what exceeds them.
        (vec![], chunks(10, 16 << 20), End::Complete, 10 - 1 - 5),
        // Nothing of another rejection is read.
        (vec![], chunks(1, 5), End::CutOff, 0),
    ] {
        let sent = Sent::chunks(chunks, end);
        let left = Arc::clone(&sent.n_left);
        server.read(&head(&headers), sent).await.unwrap_err();
        assert_eq!(left.load(Ordering::Relaxed), n_left, "{headers:?}");
    }
}

#[tokio::test]
async fn a_body_holds_its_bytes_until_its_charge_is_dropped() {
    let server = server(100, 300);
    let read = |n_bytes| {
        let server = &server;
        async move { server.read(&head(&[]), Sent::new(n_bytes, true)).await.map(|body| body.into_parts().1) }
    };
    for _ in 0..10 {
        read(100).await.unwrap();
    }
    let mut held = vec![read(100).await.unwrap(), read(100).await.unwrap()];
    held.push(read(50).await.unwrap());
    let error = Rejection::TimedOut(Duration::from_millis(100));
    assert_eq!(read(51).await.unwrap_err(), error);
    held.push(read(50).await.unwrap());
    assert_eq!(read(1).await.unwrap_err(), error);
    held.remove(0);
    assert_eq!(read(101).await.unwrap_err(), Rejection::TooLarge(100));
    held.push(read(100).await.unwrap());
    held.clear();
    read(100).await.unwrap();
}

#[tokio::test]
async fn the_budget_has_room_for_two_bodies() {
    let server = server(100, 0);
    let first = server.read(&head(&[]), Sent::new(100, true)).await.unwrap();
    let second = server.read(&head(&[]), Sent::new(100, true)).await.unwrap();
    assert!(server.read(&head(&[]), Sent::new(1, true)).await.is_err());
    drop((first, second));
}

#[tokio::test]
async fn only_json_is_read_as_json() {
    let server = server(100, 0);
    for (kind, is_json) in [
        ("application/json", true),
        ("Application/JSON; charset=utf-8", true),
        ("application/json-patch+json", false),
        ("text/plain", false),
        ("", false),
    ] {
        let read = server.read_json(&head(&[("content-type", kind)]), Sent::new(1, true)).await;
        assert_eq!(read.err(), (!is_json).then_some(Rejection::NotJson), "{kind}");
    }
}

#[test]
fn a_client_accepts_events_in_any_of_its_headers() {
    for (accept, expected) in
        [(vec!["a/b", "text/event-stream"], true), (vec!["a/b", "*/*"], false), (vec![], false), (vec!["é"], false)]
    {
        let headers: Vec<_> = accept.iter().map(|accept| ("accept", *accept)).collect();
        assert_eq!(head(&headers).accepts_events(), expected, "{accept:?}");
    }
    assert_eq!(head(&[]).check_reserve(), Ok(()));
    assert_eq!(head(&[]).path(), "/");
}

#[test]
fn extensions_of_the_host_are_one_value() {
    assert!(head(&[]).extensions().is_none());
    let request = Request::builder().extension(7_u32).extension("seven").body(()).unwrap();
    let head = RequestHead::new(request.into_parts().0);
    let extensions = head.extensions().unwrap();
    assert_eq!((extensions.get::<u32>(), extensions.get::<&str>()), (Some(&7), Some(&"seven")));
}

#[test]
fn each_rejection_has_a_status_and_a_reason() {
    for (rejection, status, text) in [
        (Rejection::Host, 403, "the server does not accept requests for this `Host`"),
        (Rejection::Origin, 403, "the server does not accept requests from this `Origin`"),
        (Rejection::NotJson, 415, "the `Content-Type` of a message must be `application/json`"),
        (Rejection::TooLarge(7), 413, "the request body exceeds the limit of 7 bytes"),
        (Rejection::TimedOut(Duration::from_secs(7)), 408, "the request body did not arrive within 7s"),
        (Rejection::Incomplete, 400, "the request body is incomplete"),
        (Rejection::Memory, 503, "the server has no memory left for this request; try again later"),
        (Rejection::Connections(7), 503, "the limit of 7 connections is reached; try again later"),
        (
            Rejection::ConnectionsOfAddress(7),
            503,
            "the limit of 7 connections of one address is reached; try again later",
        ),
        (Rejection::EventStreams(7), 503, "the limit of 7 event streams is reached; try again later"),
        (
            Rejection::EventStreamsOfCaller(7),
            503,
            "the limit of 7 event streams of one caller is reached, its share; try again later",
        ),
    ] {
        assert_eq!((rejection.status().as_u16(), rejection.to_string()), (status, text.to_owned()));
        assert_eq!(rejection.retry_after(), (status == 503).then_some(1), "{text}");
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

#[tokio::test]
async fn a_complete_body_is_not_revoked_in_place_of_an_unfinished_one() {
    let mut limits = Limits::default();
    (limits.max_body_bytes, limits.max_pending_bytes) = (1 << 20, 2 << 20);
    let server = Arc::new(HttpServer::new(limits, HostGuard::local()));
    let read = |n_bytes, ends| {
        let server = Arc::clone(&server);
        async move { server.read(&head(&[]), Sent::new(n_bytes, ends)).await }
    };
    let complete = read(900 << 10, true).await.unwrap();
    let hanging = tokio::spawn(read(800 << 10, false));
    sleep(Duration::from_millis(50)).await;
    let waiting = timeout(Duration::from_secs(5), read(500 << 10, true)).await;
    waiting.expect("the unfinished body is revoked").unwrap();
    assert_eq!(hanging.await.unwrap().err(), Some(Rejection::Memory));
    assert_eq!(complete.bytes().len(), 900 << 10);
}

#[tokio::test]
async fn the_rest_of_a_rejected_body_is_dropped_unless_it_is_too_large_or_its_client_waits() {
    let server = server(10, 0);
    for (headers, n_left) in [
        (vec![], 0),
        (vec![("content-length", "10")], 0),
        (vec![("content-length", "11")], 2),
        (vec![("content-length", "10"), ("expect", "100-continue")], 2),
    ] {
        let sent = Sent::chunks(vec![Bytes::from_static(b"12345"); 2], End::Complete);
        let left = Arc::clone(&sent.n_left);
        server.discard(&head(&headers), std::pin::pin!(sent)).await;
        assert_eq!(left.load(Ordering::Relaxed), n_left, "{headers:?}");
    }
}

#[test]
fn a_server_checks_the_host_of_a_request_with_its_guard() {
    let server = server(10, 0);
    assert_eq!(server.check_host(&head(&[("host", "localhost")])), Ok(()));
    assert_eq!(server.check_host(&head(&[("host", "evil.example")])), Err(Rejection::Host));
    assert_eq!(
        server.check_host(&head(&[("host", "localhost"), ("origin", "http://evil.example")])),
        Err(Rejection::Origin)
    );
    assert!(server.guard().accepts_origin("http://localhost"));
}
