//! Clients that open connections and do nothing with them.

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::server::{BOTH, Protocol};
use super::*;

#[test]
fn idle_connections_make_room_for_new_ones() {
    for protocol in BOTH {
        let server = Server::start(protocol, "connections=32");
        let _idle: Vec<TcpStream> = (0..200).map(|_| server.connect()).collect();
        server.assert_serves();
        // Connections with an incomplete request or an earlier response count too.
        let _begun: Vec<TcpStream> = (0..200)
            .map(|nth| {
                let mut stream = server.connect();
                let _ = stream.write_all(if nth % 2 == 0 { b"POST /mcp HTTP/1.1\r\nx" } else { b"G" });
                stream
            })
            .collect();
        server.assert_serves();
    }
}

#[test]
fn clients_that_do_not_read_make_room_for_others() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "connections=100 shutdown_timeout=1");
        // More than the system buffers hold.
        let _deaf: Vec<TcpStream> = (0..64).map(|_| server.begin("text", json!({ "n_bytes": 6 << 20 }))).collect();
        server.assert_serves();
        assert!(server.peak() < MAX_RESIDENT, "{} MiB", server.peak());
        server.terminate();
        server.assert_ends();
    }
}

#[test]
fn event_streams_leave_connections_for_others() {
    let mut server = Server::start(Protocol::Mcp, "connections=32 event_streams=8 shutdown_timeout=1");
    let listen = server.head("GET", "/mcp", 0, "accept: text/event-stream\r\nmcp-protocol-version: 2025-11-25\r\n");
    let streams: Vec<(TcpStream, String)> = (0..40)
        .map(|_| {
            let mut stream = server.connect();
            stream.write_all(listen.as_bytes()).unwrap();
            let mut begun = [0; 12];
            stream.read_exact(&mut begun).unwrap();
            (stream, String::from_utf8_lossy(&begun).into_owned())
        })
        .collect();
    let n_served = streams.iter().filter(|(_, begun)| begun.ends_with("200")).count();
    assert_eq!(n_served, 8);
    assert!(streams.iter().all(|(_, begun)| begun.ends_with("200") || begun.ends_with("503")));
    server.assert_serves();
    server.terminate();
    server.assert_ends();
}

#[test]
fn requests_without_room_get_retry_after() {
    for protocol in BOTH {
        let server = Server::start(protocol, "connections=4 reserved=1 call_timeout=3600");
        let _held: Vec<TcpStream> = (0..4).map(|_| server.begin("sleep", json!({ "ms": 3_600_000 }))).collect();
        server.wait_until_noted("sleep", 4);
        let refused = server.call("quick", json!({}));
        assert_eq!(refused.status, 503, "{refused:?}");
        assert!(refused.text.to_lowercase().contains("\r\nretry-after: 1\r\n"), "{refused:?}");
    }
}

/// Connections of running calls cannot be evicted, and the reserve admits health checks and authenticated clients.
#[test]
fn the_reserve_is_for_health_checks_and_authenticated_clients() {
    for protocol in BOTH {
        let server = Server::start(protocol, "connections=4 reserved=4 token=1");
        let _held: Vec<TcpStream> = (0..4).map(|_| server.begin("sleep", json!({ "ms": 3_600_000 }))).collect();
        server.wait_until_noted("sleep", 4);
        server.assert_serves();
        let list = if protocol == Protocol::Mcp { "/metrics" } else { "/tools" };
        let refused = server.get(list, "");
        assert!([401, 503].contains(&refused.status), "{refused:?}");
        assert_eq!(server.get(list, protocol.token()).status, 200);
    }
}
