//! Clients that announce bodies and do not send them, or all but the end.

use std::io::Write;
use std::net::TcpStream;

use super::server::BOTH;
use super::*;

fn begin(server: &Server, n_announced: usize, n_sent: usize) -> TcpStream {
    let mut stream = server.connect();
    // An overloaded server may close the connection or stop reading.
    stream.set_write_timeout(Some(std::time::Duration::from_millis(500))).unwrap();
    let head = server.head("POST", server.protocol.path(), n_announced, "");
    let _ = stream.write_all(head.as_bytes());
    let chunk = vec![b' '; 64 << 10];
    let mut n_left = n_sent;
    while n_left > 0 {
        let n = n_left.min(chunk.len());
        match stream.write(&chunk[..n]) {
            Ok(n_written) => n_left -= n_written,
            Err(_) => break,
        }
    }
    stream
}

#[test]
fn bodies_that_were_only_announced_stall_no_others() {
    for protocol in BOTH {
        let server = Server::start(protocol, "");
        let _announced: Vec<TcpStream> = (0..100).map(|_| begin(&server, 4 << 20, 10)).collect();
        server.assert_serves();
    }
}

#[test]
fn unfinished_bodies_stall_no_others_and_take_bounded_memory() {
    for protocol in BOTH {
        let mut server = Server::start(protocol, "shutdown_timeout=1");
        let n_bytes = if protocol == super::Protocol::Mcp { (4 << 20) - 1 } else { (15 << 20) - 1 };
        let unfinished: Vec<TcpStream> = std::thread::scope(|scope| {
            let begun: Vec<_> = (0..60).map(|_| scope.spawn(|| begin(&server, n_bytes + 1, n_bytes))).collect();
            begun.into_iter().map(|begun| begun.join().unwrap()).collect()
        });
        server.assert_serves();
        // A larger body gets room too, since an unfinished one is revoked.
        let text = "x".repeat(1 << 20);
        let answer = server.call("length", serde_json::json!({ "text": text }));
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(server.peak() < MAX_RESIDENT, "{} MiB", server.peak());
        server.terminate();
        server.assert_ends();
        drop(unfinished);
    }
}

/// It is refused before any tool runs, so that a thread for tools is there only if it has read the body.
#[cfg(target_os = "linux")]
#[test]
fn large_bodies_are_read_where_tools_run() {
    for protocol in BOTH {
        let server = Server::start(protocol, "");
        let text = "x".repeat(1 << 20);
        super::server::until("a thread for tools", || {
            let refused = server.call("unknown", serde_json::json!({ "text": text }));
            assert!(refused.text.contains("unknown"), "{:.300}", refused.text);
            server.has_thread("toolkit tool")
        });
    }
}
