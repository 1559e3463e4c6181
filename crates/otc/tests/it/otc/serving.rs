//! A server that listens, and its connections.

use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use toolkit::call::ErrorKind;
use toolkit_otc::{Limits, OtcBackend, Server};

use super::*;

/// Starts a server with a tool that never returns. It stops when the sender is dropped.
async fn hanging(limits: Limits) -> (String, oneshot::Sender<()>, tokio::task::JoinHandle<()>) {
    let local = LocalBackend::new("local");
    local.add(tool_of(&definition("Doorbell.Ring@0.1.0")), |_: Value, context: Context| async move {
        context.progress(1.0, None, "ringing");
        std::future::pending::<()>().await;
        Ok(json!(null))
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (stop, stopped) = oneshot::channel();
    let server = Server::new(dispatcher_on(local).await).limits(limits);
    let served = tokio::spawn(server.serve(listener, async { drop(stopped.await) }));
    (address, stop, served)
}

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

#[test]
fn the_default_limits_are_the_documented_ones() {
    let limits = Limits::default();
    let sizes = [limits.max_body_bytes, limits.max_pending_bytes, limits.max_cached_bytes];
    assert_eq!(sizes, [16 << 20, 64 << 20, 16 << 20]);
    assert_eq!([limits.max_calls, limits.max_connections, limits.max_cached_responses], [256, 1024, 1024]);
    assert_eq!(limits.call_timeout, Duration::from_secs(300));
    assert_eq!([limits.read_timeout, limits.shutdown_timeout], [Duration::from_secs(30); 2]);
    assert_eq!(limits.drain_delay, Duration::ZERO);
    assert!(!limits.trusted_proxies.contains([127, 0, 0, 1].into()));
}

#[tokio::test]
async fn calls_that_do_not_end_are_cancelled_when_the_server_stops() {
    let mut limits = Limits::default();
    limits.shutdown_timeout = Duration::from_millis(50);
    let (address, stop, served) = hanging(limits).await;
    let dispatcher = dispatcher_on(OtcBackend::new("remote", &format!("http://{address}")).unwrap()).await;
    let (rings, mut ringing) = tokio::sync::mpsc::unbounded_channel();
    let context = Context::new().on_progress(move |_| {
        let _ = rings.send(());
    });
    let call = dispatcher.call_with(&context, "Doorbell:Ring", r#"{"doorbell_id": "1"}"#);
    let stopped = async {
        ringing.recv().await;
        drop(stop);
    };
    let (outcome, ()) = soon(async { tokio::join!(call, stopped) }).await;
    assert_eq!(outcome.unwrap_err().kind(), ErrorKind::OutcomeUnknown);
    soon(served).await.unwrap();
}

#[tokio::test]
async fn a_stalled_client_is_disconnected() {
    let mut limits = Limits::default();
    limits.read_timeout = Duration::from_millis(50);
    limits.max_connections = 1;
    let (address, _stop, _served) = hanging(limits).await;
    let head = "POST /tools/call HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
    for (sent, said) in
        [("".to_owned(), ""), (head.to_owned(), ""), (format!("{head}content-length: 100\r\n\r\n{{"), "HTTP/1.1 408 ")]
    {
        // With room for one connection, each is served once the one before is disconnected.
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(sent.as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        let _ = soon(stream.read_to_end(&mut answer)).await;
        let answer = String::from_utf8_lossy(&answer);
        assert!(answer.starts_with(said), "{sent:?}: {answer}");
    }
}

#[tokio::test]
async fn malformed_requests_run_no_tool() {
    let (address, _stop, _served) = hanging(Limits::default()).await;
    for sent in ["\r\n\r\nx\r\n\r\n".to_owned(), "GET / HTTP/9.9\r\n\r\n".to_owned(), "\0".repeat(100_000)] {
        let mut stream = TcpStream::connect(&address).await.unwrap();
        let _ = stream.write_all(sent.as_bytes()).await;
        let _ = stream.shutdown().await;
        let mut answer = Vec::new();
        let _ = soon(stream.read_to_end(&mut answer)).await;
        assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&answer));
    }
}
