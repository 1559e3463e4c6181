//! The connections, event streams and responses that a server keeps within its limits.

use std::net::SocketAddr;
use std::time::Duration;

use futures_util::stream;
use http::{Response, StatusCode};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::time::{sleep, timeout};
use toolkit_runtime::{
    Body, HostGuard, HttpServer, Limits, RequestHead, TrustedProxies, bind, empty_response, events_response,
    text_response,
};

/// A timeout for operations that must not hang, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// The size of a response that no socket holds.
const LARGE: usize = 32 << 20;

/// The limits of a server without a reserve, which apply to loopback addresses too.
fn limits(max_connections: usize) -> Limits {
    let mut limits = Limits::default();
    (limits.max_connections, limits.reserved_connections, limits.limits_loopback) = (max_connections, 0, true);
    limits
}

/// Starts a server that lives as long as the test.
fn serve(limits: Limits) -> SocketAddr {
    let listener = bind(&[([127, 0, 0, 1], 0).into()]).unwrap();
    let address = listener.local_addr().unwrap();
    let server = std::sync::Arc::new(HttpServer::new(limits.clone(), HostGuard::local()));
    let bodies = std::sync::Arc::clone(&server);
    tokio::spawn(async move {
        let answer = move |head: RequestHead, body| {
            let bodies = std::sync::Arc::clone(&bodies);
            async move {
                if head.path() == "/health" {
                    return empty_response(StatusCode::OK);
                }
                if let Err(rejection) = head.check_room() {
                    return rejected(rejection);
                }
                match head.path() {
                    "/body" => match bodies.read(&head, body).await {
                        Ok(body) => text_response(StatusCode::OK, body.bytes().clone()),
                        Err(rejection) => rejected(rejection),
                    },
                    "/waits" => std::future::pending().await,
                    "/slow" => {
                        sleep(Duration::from_millis(1500)).await;
                        empty_response(StatusCode::OK)
                    }
                    "/reserve" => head.check_reserve().map_or_else(rejected, |()| empty_response(StatusCode::OK)),
                    "/stream" => {
                        let caller = head.headers().get("x-caller").map(|caller| caller.to_str().unwrap());
                        head.count_events(events_response(stream::pending()), caller).unwrap_or_else(rejected)
                    }
                    "/large" => text_response(StatusCode::OK, vec![b'x'; LARGE]),
                    "/client" => text_response(StatusCode::OK, head.client().unwrap().to_string()),
                    _ => empty_response(StatusCode::OK),
                }
            }
        };
        server.serve(listener, answer, std::future::pending(), std::future::pending()).await;
    });
    address
}

fn rejected(rejection: toolkit_runtime::Rejection) -> Response<Body> {
    empty_response(rejection.status())
}

#[test]
fn the_default_limits_are_the_documented_ones() {
    let limits = Limits::default();
    assert_eq!(
        [limits.max_connections, limits.max_connections_per_address, limits.reserved_connections],
        [1024, 512, 64]
    );
    assert_eq!(limits.max_event_streams, 256);
    let sizes = [limits.max_body_bytes, limits.max_pending_bytes, limits.max_response_bytes];
    assert_eq!(sizes.map(|n_bytes| n_bytes >> 20), [4, 64, 64]);
    assert_eq!([limits.io_timeout, limits.shutdown_timeout], [Duration::from_secs(30); 2]);
    assert!(!limits.limits_loopback && !limits.trusted_proxies.contains([127, 0, 0, 1].into()));
}

struct Client(TcpStream);

impl Client {
    /// Connects from an address of this machine, which ends with `from`.
    async fn connect(server: SocketAddr, from: u8) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(([127, 0, 0, from], 0).into()).unwrap();
        socket.set_recv_buffer_size(16 << 10).unwrap();
        let client = Self(socket.connect(server).await.unwrap());
        // The phases of connections are as old as the test expects.
        sleep(Duration::from_millis(100)).await;
        client
    }

    async fn send(&mut self, path: &str, more: &str) {
        let request = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\n{more}");
        self.0.write_all(request.as_bytes()).await.unwrap();
        sleep(Duration::from_millis(100)).await;
    }

    /// Returns the status of the response, or `None` if the connection has ended.
    async fn status(&mut self) -> Option<u16> {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            head.push(timeout(PATIENCE, self.0.read_u8()).await.expect("the server responds").ok()?);
        }
        let head = String::from_utf8(head).unwrap();
        head.split(' ').nth(1).unwrap().parse().ok()
    }

    async fn ask(&mut self, path: &str) -> Option<u16> {
        // A connection that was evicted may fail here or below.
        let request = format!("POST {path} HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n");
        self.0.write_all(request.as_bytes()).await.ok()?;
        let status = self.status().await;
        sleep(Duration::from_millis(100)).await;
        status
    }

    /// Returns the number of bytes that arrive before the connection ends, or up to `max`.
    async fn read(&mut self, max: usize) -> usize {
        let mut buffer = vec![0; 1 << 20];
        let mut n_bytes = 0;
        while n_bytes < max {
            match timeout(PATIENCE, self.0.read(&mut buffer)).await.expect("it does not hang") {
                Ok(n_read) if n_read > 0 => n_bytes += n_read,
                _ => break,
            }
        }
        n_bytes
    }
}

#[tokio::test]
async fn a_new_connection_evicts_the_one_that_has_been_idle_longest() {
    let server = serve(limits(2));
    let (mut first, mut second) = (Client::connect(server, 1).await, Client::connect(server, 1).await);
    assert_eq!((first.ask("/").await, second.ask("/").await, first.ask("/").await), (Some(200), Some(200), Some(200)));
    let mut third = Client::connect(server, 1).await;
    assert_eq!(third.ask("/").await, Some(200));
    assert_eq!(second.ask("/").await, None);
    assert_eq!(first.ask("/").await, Some(200));
}

#[tokio::test]
async fn idle_connections_are_evicted_before_unfinished_bodies_and_those_before_running_requests() {
    let server = serve(limits(3));
    let (mut running, mut receiving) = (Client::connect(server, 1).await, Client::connect(server, 1).await);
    running.send("/waits", "content-length: 0\r\n\r\n").await;
    receiving.send("/body", "content-length: 2\r\n\r\na").await;
    let mut idle = Client::connect(server, 1).await;
    assert_eq!(idle.ask("/").await, Some(200));
    let mut fourth = Client::connect(server, 1).await;
    assert_eq!((fourth.ask("/").await, idle.ask("/").await), (Some(200), None));
    fourth.send("/waits", "content-length: 0\r\n\r\n").await;
    let mut fifth = Client::connect(server, 1).await;
    assert_eq!((fifth.ask("/").await, receiving.status().await), (Some(200), None));
    fifth.send("/waits", "content-length: 0\r\n\r\n").await;
    // All requests run, so that there is no room.
    let mut sixth = Client::connect(server, 1).await;
    assert_eq!(sixth.ask("/").await, Some(503));
    drop(fourth);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
}

#[tokio::test]
async fn a_connection_that_has_received_its_body_is_idle_after_its_response() {
    let server = serve(limits(1));
    let mut first = Client::connect(server, 1).await;
    first.send("/body", "content-length: 2\r\n\r\na").await;
    first.0.write_all(b"b").await.unwrap();
    assert_eq!(first.status().await, Some(200));
    assert_eq!(first.read(2).await, 2);
    sleep(Duration::from_millis(100)).await;
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
    assert_eq!(first.ask("/").await, None);
}

#[tokio::test]
async fn the_address_with_the_most_connections_loses_one() {
    let server = serve(limits(3));
    let mut other = Client::connect(server, 3).await;
    let mut many = [Client::connect(server, 2).await, Client::connect(server, 2).await];
    for client in [&mut other].into_iter().chain(&mut many) {
        assert_eq!(client.ask("/").await, Some(200));
    }
    let mut new = Client::connect(server, 4).await;
    assert_eq!(new.ask("/").await, Some(200));
    assert_eq!((many[0].ask("/").await, many[1].ask("/").await), (None, Some(200)));
    assert_eq!((other.ask("/").await, new.ask("/").await), (Some(200), Some(200)));
}

#[tokio::test]
async fn an_address_at_its_limit_evicts_its_own_connections_only() {
    let mut limits = limits(10);
    limits.max_connections_per_address = 1;
    let server = serve(limits.clone());
    let mut other = Client::connect(server, 3).await;
    let mut first = Client::connect(server, 2).await;
    let mut second = Client::connect(server, 2).await;
    for client in [&mut other, &mut first, &mut second] {
        assert_eq!(client.ask("/").await, Some(200));
    }
    assert_eq!((first.ask("/").await, other.ask("/").await), (None, Some(200)));
    // While its connection runs, there is no room for another one of the same address.
    second.send("/waits", "content-length: 0\r\n\r\n").await;
    assert_eq!(Client::connect(server, 2).await.ask("/").await, Some(503));
    assert_eq!(Client::connect(server, 4).await.ask("/").await, Some(200));
}

#[tokio::test]
async fn limits_per_address_apply_neither_to_loopback_addresses_by_default_nor_to_proxies() {
    let mut loopback = limits(10);
    (loopback.max_connections_per_address, loopback.max_event_streams) = (1, 2);
    let mut proxies = loopback.clone();
    loopback.limits_loopback = false;
    proxies.trusted_proxies = TrustedProxies::new(["127.0.0.2"]).unwrap();
    for limits in [loopback, proxies] {
        let server = serve(limits);
        let mut clients = [Client::connect(server, 2).await, Client::connect(server, 2).await];
        for client in &mut clients {
            assert_eq!(client.ask("/").await, Some(200));
        }
        for client in &mut clients {
            assert_eq!(client.ask("/stream").await, Some(200));
        }
    }
}

#[tokio::test]
async fn event_streams_have_a_limit_of_which_each_caller_and_each_address_have_a_share() {
    let mut limits = limits(10);
    limits.max_event_streams = 2;
    let server = serve(limits);
    let mut first = Client::connect(server, 2).await;
    assert_eq!(first.ask("/stream").await, Some(200));
    assert_eq!(Client::connect(server, 2).await.ask("/stream").await, Some(503));
    let mut second = Client::connect(server, 3).await;
    assert_eq!(second.ask("/stream").await, Some(200));
    assert_eq!(Client::connect(server, 4).await.ask("/stream").await, Some(503));
    drop(first);
    sleep(Duration::from_millis(200)).await;
    let mut third = Client::connect(server, 2).await;
    assert_eq!(third.ask("/stream").await, Some(200));
    assert_eq!(Client::connect(server, 4).await.ask("/stream").await, Some(503));
}

#[tokio::test]
async fn a_caller_leaves_event_streams_to_others_from_one_address() {
    let mut limits = limits(10);
    (limits.max_event_streams, limits.limits_loopback) = (4, false);
    let server = serve(limits);
    let mut clients = Vec::new();
    for (caller, expected) in [("alice", 200), ("alice", 200), ("alice", 503), ("bob", 200), ("carol", 200)] {
        let mut client = Client::connect(server, 2).await;
        client.send("/stream", &format!("x-caller: {caller}\r\ncontent-length: 0\r\n\r\n")).await;
        assert_eq!(client.status().await, Some(expected), "{caller}");
        clients.push(client);
    }
}

#[tokio::test]
async fn a_connection_in_the_reserve_leaves_it_when_there_is_room() {
    let mut limits = limits(1);
    limits.reserved_connections = 1;
    let server = serve(limits);
    let mut running = Client::connect(server, 1).await;
    assert_eq!(running.ask("/reserve").await, Some(200));
    running.send("/waits", "content-length: 0\r\n\r\n").await;
    let mut reserved = Client::connect(server, 1).await;
    assert_eq!((reserved.ask("/").await, reserved.ask("/reserve").await), (Some(200), Some(503)));
    // A connection in the reserve can be evicted for another one, which is in the reserve too.
    let mut next = Client::connect(server, 1).await;
    assert_eq!(next.ask("/reserve").await, Some(503));
    assert_eq!(reserved.ask("/").await, None);
    drop(running);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(next.ask("/reserve").await, Some(200));
    next.send("/waits", "content-length: 0\r\n\r\n").await;
    let mut last = Client::connect(server, 1).await;
    assert_eq!(last.ask("/reserve").await, Some(503));
    last.send("/waits", "content-length: 0\r\n\r\n").await;
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(503));
}

#[tokio::test]
async fn clients_that_send_nothing_take_no_room() {
    let server = serve(limits(1));
    let mut silent = Vec::new();
    for _ in 0..20 {
        silent.push(Client::connect(server, 1).await);
    }
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
    // Each of them has only come early.
    for client in &mut silent {
        assert_eq!(client.ask("/").await, Some(200));
    }
}

#[tokio::test]
async fn a_request_without_room_is_answered_however_its_client_sends_it() {
    let server = serve(limits(1));
    let mut running = Client::connect(server, 1).await;
    running.send("/waits", "content-length: 0\r\n\r\n").await;
    let mut early = Client::connect(server, 1).await;
    early.send("/body", &format!("content-length: {LARGE}\r\n\r\n")).await;
    // More than the buffers of both sides hold.
    early.0.write_all(&vec![b'x'; LARGE]).await.unwrap();
    assert_eq!((early.status().await, early.read(1).await), (Some(503), 0));
    let mut piecemeal = Client::connect(server, 1).await;
    piecemeal.0.write_all(b"POST /body HTTP/1.1\r\n").await.unwrap();
    sleep(Duration::from_millis(200)).await;
    piecemeal.0.write_all(b"host: localhost\r\ncontent-length: 1\r\n\r\n").await.unwrap();
    sleep(Duration::from_millis(200)).await;
    piecemeal.0.write_all(b"x").await.unwrap();
    assert_eq!((piecemeal.status().await, piecemeal.read(1).await), (Some(503), 0));
    // Health checks need no room.
    assert_eq!(Client::connect(server, 1).await.ask("/health").await, Some(200));
    drop(running);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
}

#[tokio::test]
async fn the_reserve_takes_connections_of_an_address_at_its_limit() {
    let mut limits = limits(10);
    (limits.max_connections_per_address, limits.reserved_connections) = (1, 1);
    let server = serve(limits);
    let mut running = Client::connect(server, 2).await;
    running.send("/waits", "content-length: 0\r\n\r\n").await;
    let mut reserved = Client::connect(server, 2).await;
    assert_eq!((reserved.ask("/").await, reserved.ask("/reserve").await), (Some(200), Some(503)));
    assert_eq!(Client::connect(server, 3).await.ask("/reserve").await, Some(200));
    drop(running);
    sleep(Duration::from_millis(200)).await;
    assert_eq!(reserved.ask("/reserve").await, Some(200));
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected_after_the_timeout() {
    let mut limits = limits(10);
    limits.io_timeout = Duration::from_millis(500);
    let server = serve(limits);
    let mut stalled = Client::connect(server, 1).await;
    stalled.send("/large", "content-length: 0\r\n\r\n").await;
    sleep(Duration::from_millis(1500)).await;
    let n_bytes = stalled.read(LARGE).await;
    assert!(n_bytes < LARGE, "{n_bytes}");
}

#[tokio::test]
async fn a_client_that_reads_slowly_gets_the_whole_response() {
    let mut limits = limits(10);
    limits.io_timeout = Duration::from_secs(2);
    let server = serve(limits);
    let mut slow = Client::connect(server, 1).await;
    slow.send("/large", "content-length: 0\r\n\r\n").await;
    let start = std::time::Instant::now();
    // Each pause is shorter than the timeout, and all of them are longer.
    let mut n_bytes = 0;
    for _ in 0..8 {
        n_bytes += slow.read(3 << 20).await;
        sleep(Duration::from_millis(300)).await;
    }
    n_bytes += slow.read(LARGE - n_bytes).await;
    assert!(n_bytes >= LARGE && start.elapsed() > Duration::from_secs(2), "{n_bytes}");
}

#[tokio::test]
async fn clients_that_do_not_read_leave_their_connection_and_their_memory_to_others() {
    let mut limits = limits(2);
    limits.max_response_bytes = LARGE;
    let server = serve(limits);
    let mut stalled = Client::connect(server, 1).await;
    assert_eq!(stalled.ask("/large").await, Some(200));
    let mut reader = Client::connect(server, 1).await;
    assert_eq!(reader.ask("/large").await, Some(200));
    assert_eq!(reader.read(LARGE).await, LARGE);
    let n_bytes = stalled.read(LARGE).await;
    assert!(n_bytes < LARGE, "{n_bytes}");

    let mut stalled = Client::connect(server, 1).await;
    assert_eq!(stalled.ask("/large").await, Some(200));
    // The server fills the buffers of the connection before it waits.
    sleep(Duration::from_secs(1)).await;
    reader.send("/waits", "content-length: 0\r\n\r\n").await;
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
    let n_bytes = stalled.read(LARGE).await;
    assert!(n_bytes < LARGE, "{n_bytes}");
}

#[tokio::test]
async fn a_head_that_does_not_arrive_in_time_ends_its_connection() {
    let mut limits = limits(10);
    limits.io_timeout = Duration::from_millis(300);
    let server = serve(limits);
    let mut client = Client::connect(server, 1).await;
    client.0.write_all(b"POST / HTTP/1.1\r\n").await.unwrap();
    assert_eq!(client.status().await, None);
}

#[tokio::test]
async fn the_client_of_a_request_is_that_of_its_connection_or_of_a_proxy() {
    let mut limits = limits(10);
    limits.trusted_proxies = TrustedProxies::new(["127.0.0.2"]).unwrap();
    let server = serve(limits);
    for (from, expected) in [(2, "192.0.2.1"), (3, "127.0.0.3")] {
        let mut client = Client::connect(server, from).await;
        client.send("/client", "content-length: 0\r\nx-forwarded-for: 192.0.2.1\r\n\r\n").await;
        assert_eq!(client.status().await, Some(200));
        let mut text = vec![0; expected.len()];
        client.0.read_exact(&mut text).await.unwrap();
        assert_eq!(text, expected.as_bytes());
    }
}

#[tokio::test]
async fn responses_of_several_clients_may_take_all_memory_that_there_is_for_them() {
    let mut limits = limits(10);
    limits.max_response_bytes = 2 * LARGE;
    let server = serve(limits);
    let (mut first, mut second) = (Client::connect(server, 1).await, Client::connect(server, 2).await);
    first.send("/large", "content-length: 0\r\n\r\n").await;
    assert_eq!(second.ask("/large").await, Some(200));
    assert_eq!(second.read(LARGE).await, LARGE);
    assert_eq!(first.status().await, Some(200));
    assert_eq!(first.read(LARGE).await, LARGE);
}

#[tokio::test]
async fn a_client_that_does_not_read_closes_its_own_connections_only() {
    let mut limits = limits(10);
    limits.max_response_bytes = 4 * LARGE;
    let server = serve(limits);
    let mut other = Client::connect(server, 2).await;
    assert_eq!(other.ask("/large").await, Some(200));
    let mut unread = Vec::new();
    for _ in 0..4 {
        let mut client = Client::connect(server, 1).await;
        assert_eq!(client.ask("/large").await, Some(200));
        unread.push(client);
    }
    // Its connection has waited for the longest time.
    assert_eq!(other.read(LARGE).await, LARGE);
}

#[tokio::test]
async fn an_address_may_send_bodies_as_long_as_it_holds_none() {
    let mut limits = limits(10);
    (limits.max_body_bytes, limits.max_pending_bytes) = (1_000, 0);
    limits.io_timeout = Duration::from_secs(2);
    let server = serve(limits);
    let mut client = Client::connect(server, 2).await;
    for _ in 0..5 {
        client.send("/body", &format!("content-length: 900\r\n\r\n{}", "x".repeat(900))).await;
        assert_eq!(client.status().await, Some(200));
        assert_eq!(client.read(900).await, 900);
    }
}

/// Far more clients connect at once than may have a connection, and each sends one request.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_client_of_a_burst_gets_a_result_or_a_503() {
    const N_CLIENTS: usize = 2000;
    const RESULT: &str = "HTTP/1.1 200 ";

    let mut limits = limits(64);
    limits.reserved_connections = 16;
    let server = serve(limits);
    let mut clients = Vec::new();
    for _ in 0..N_CLIENTS {
        clients.push(TcpStream::connect(server).await.unwrap());
    }
    let asked = clients.into_iter().enumerate().map(|(nth, mut client)| {
        tokio::spawn(async move {
            let body = "x".repeat(nth % 3000);
            let head = format!("POST /slow HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n", body.len());
            client.write_all(head.as_bytes()).await.unwrap();
            // Many clients send the body on its own.
            tokio::task::yield_now().await;
            client.write_all(body.as_bytes()).await.unwrap();
            let mut start = [0; RESULT.len()];
            timeout(PATIENCE, client.read_exact(&mut start)).await.expect("the server responds").unwrap();
            start == RESULT.as_bytes()
        })
    });
    let asked: Vec<_> = asked.collect();
    let start = std::time::Instant::now();
    assert_eq!(Client::connect(server, 1).await.ask("/health").await, Some(200));
    // Without a 503, the calls of the burst would take 47 seconds.
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    let mut n_results = 0;
    for asked in asked {
        n_results += usize::from(asked.await.expect("no connection is closed without an answer"));
    }
    assert!((64..N_CLIENTS / 2).contains(&n_results), "{n_results} results");
    assert_eq!(Client::connect(server, 1).await.ask("/").await, Some(200));
}
