//! Connection faults: no message is lost, no call hangs, and memory is bounded.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use test_support::wait::until;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use toolkit::{Context, tool};

use super::*;

static BEGUN: AtomicUsize = AtomicUsize::new(0);
static GIVEN_UP: AtomicUsize = AtomicUsize::new(0);

/// Waits until the call is cancelled.
#[tool]
pub async fn wait_in_vain(ctx: &Context) -> u64 {
    struct Unfinished;
    impl Drop for Unfinished {
        fn drop(&mut self) {
            GIVEN_UP.fetch_add(1, SeqCst);
        }
    }
    let _unfinished = Unfinished;
    BEGUN.fetch_add(1, SeqCst);
    ctx.progress(1.0, None, "waiting");
    std::future::pending().await
}

/// A server in another process.
struct Process {
    child: Child,
    client: Client,
}

impl Process {
    fn start() -> Self {
        let mut child = Command::new(test_support::program("fixture_mcp"))
            .arg("127.0.0.1:0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        Self { child, client: Client::of(address.trim().parse().unwrap()) }
    }

    /// Returns the peak memory in MiB.
    fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
    }

    fn terminate(&self) {
        let kill = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status().unwrap();
        assert!(kill.success());
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn a_disconnected_client_cancels_its_call() {
    let client = client().await.with("content-type", "application/json");
    let quiet = request(1, "tools/call", call("wait_in_vain", json!({})));
    let mut loud = quiet.clone();
    loud["params"]["_meta"]["progressToken"] = 1.into();
    for (n, message) in [quiet, loud].iter().enumerate() {
        let stream = client.begin("POST", "/mcp", message.to_string().as_bytes()).await;
        until(async || BEGUN.load(SeqCst) > n).await;
        drop(stream);
        until(async || GIVEN_UP.load(SeqCst) > n).await;
    }
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn an_incomplete_message_is_not_a_call() {
    let client = client().await.with("content-type", "application/json");
    let body = request(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 }))).to_string();
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    stream.write_all(&client.head("POST", "/mcp", body.len())).await.unwrap();
    stream.write_all(&body.as_bytes()[..body.len() / 2]).await.unwrap();
    drop(stream);
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 200);
}

#[tokio::test]
async fn a_body_of_100_mib_is_refused_unread() {
    let process = Process::start();
    let client = process.client.with("content-type", "application/json");
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 200);
    let before = process.peak();
    let refused = client.begin("POST", "/mcp", b"").await;
    drop(refused);

    // The announced length suffices for the rejection.
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    stream.write_all(&client.head("POST", "/mcp", 100 << 20)).await.unwrap();
    let response = Response::read(&mut tokio::io::BufReader::new(stream)).await;
    assert_eq!(response.status, 413);

    // Without an announced length, the body is read up to the limit.
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    let head = String::from_utf8(client.head("POST", "/mcp", 0)).unwrap();
    let head = head.replace("content-length: 0", "transfer-encoding: chunked");
    stream.write_all(head.as_bytes()).await.unwrap();
    let (mut reader, mut writer) = stream.into_split();
    let writing = tokio::spawn(async move {
        let chunk = [b"100000\r\n".as_slice(), &vec![b' '; 1 << 20], b"\r\n"].concat();
        for _ in 0..100 {
            // The server may close the connection meanwhile.
            if writer.write_all(&chunk).await.is_err() {
                break;
            }
        }
    });
    let mut answer = Vec::new();
    let _ = tokio::time::timeout(Duration::from_secs(30), reader.read_to_end(&mut answer)).await.expect("it ends");
    writing.await.unwrap();
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&answer));
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 200);
    assert!(process.peak() < before + 32, "{} MiB, from {before}", process.peak());
}

#[tokio::test]
async fn a_thousand_connections_are_all_answered() {
    let process = Process::start();
    let calls = (0..1000).map(|n| {
        let client = process.client.clone();
        tokio::spawn(async move {
            let message = request(n, "tools/call", call("math_add", json!({ "a": n, "b": 1 })));
            client.post(message.to_string().as_bytes()).await.result()["structuredContent"]["sum"].as_u64()
        })
    });
    for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
        assert_eq!(call.await.unwrap(), Some(n as u64 + 1));
    }
    assert!(process.peak() < 256, "{} MiB", process.peak());
}

#[tokio::test]
async fn a_client_that_does_not_read_is_disconnected() {
    let server = server();
    let client = Client::of(serve(server.http().io_timeout(Duration::from_millis(100))).await);
    let client = client.with("content-type", "application/json");
    let long = request(1, "tools/call", call("long_text", json!({ "n_bytes": 20_000_000 })));
    let unread = client.begin("POST", "/mcp", long.to_string().as_bytes()).await;
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 200);
    let given_up = async {
        while !server.metrics().contains("toolkit_mcp_connections 0") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), given_up).await.expect("the connection is closed");
    drop(unread);
}

#[tokio::test]
async fn a_client_that_does_not_write_is_disconnected() {
    let client = Client::of(serve(server().http().io_timeout(Duration::from_millis(100))).await);
    let client = client.with("content-type", "application/json");
    for (sent, status) in [(b"POST /mcp HT".to_vec(), 0), (client.head("POST", "/mcp", 10), 408)] {
        let mut stream = TcpStream::connect(client.address).await.unwrap();
        stream.write_all(&sent).await.unwrap();
        let mut stream = tokio::io::BufReader::new(stream);
        let read = tokio::time::timeout(Duration::from_secs(30), Response::read(&mut stream));
        let answer = read.await.expect("the server closes the connection");
        assert!(answer.status == status || (status == 0 && answer.status == 408), "{answer:?}");
    }
}

#[tokio::test]
async fn sigterm_under_load_finishes_running_calls() {
    let mut process = Process::start();
    let client = process.client.with("content-type", "application/json");
    let mut message = request(1, "tools/call", call("test_tool_with_progress", json!({})));
    message["params"]["_meta"]["progressToken"] = 1.into();
    let mut streams = Vec::new();
    for _ in 0..50 {
        let mut stream = client.begin("POST", "/mcp", message.to_string().as_bytes()).await;
        // The head arrives with the first progress, so the tool runs.
        let head = Response::read_head(&mut stream).await;
        assert_eq!(head.status, 200);
        streams.push(stream);
    }
    process.terminate();
    for mut stream in streams {
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap();
        let rest = String::from_utf8(rest).unwrap();
        assert!(rest.contains(r#""isError":false"#) && rest.trim_end().ends_with('0'), "{rest}");
    }
    assert!(process.child.wait().unwrap().success());
    assert!(TcpStream::connect(client.address).await.is_err(), "nobody is accepted any more");
}

#[tokio::test]
async fn a_message_of_unknown_length_is_charged_by_its_size() {
    // The budget of all messages.
    let http = server().http().max_body_bytes(256 << 20).io_timeout(Duration::from_secs(5));
    let client = Client::of(serve(http).await);
    let mut message = request(1, "tools/call", call("wait", json!({})));
    message["params"]["_meta"]["progressToken"] = 1.into();
    let message = message.to_string();
    let head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                accept: application/json, text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let mut stream = TcpStream::connect(client.address).await.unwrap();
    stream.write_all(format!("{head}{:x}\r\n{message}\r\n0\r\n\r\n", message.len()).as_bytes()).await.unwrap();
    let mut stream = tokio::io::BufReader::new(stream);
    assert_eq!(Response::read_head(&mut stream).await.status, 200);
    // Another call is read while this one runs.
    assert_eq!(client.send(&request(2, "ping", json!({}))).await.status, 200);
}

/// Proxies and clients close a connection without traffic.
#[tokio::test]
async fn a_long_call_without_progress_sends_bytes_from_time_to_time() {
    let client = client().await.with("content-type", "application/json");
    let body = request(1, "tools/call", call("sleep", json!({ "ms": 12_000 }))).to_string();
    let response = client.ask("POST", "/mcp", body.as_bytes()).await;
    assert_eq!(response.header("content-type"), Some("text/event-stream"));
    assert!(response.text().starts_with(":\n\n"), "{}", response.text());
    assert_eq!(response.messages()[0]["result"]["isError"], false, "{}", response.text());
}
