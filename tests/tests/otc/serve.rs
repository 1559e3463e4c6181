//! `serve` of the command line, and connections.

use std::process::{Command, Output};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use toolkit::call::ErrorKind;
use toolkit_otc::{Limits, OtcBackend, Server};

use super::provider::{PATIENCE, Provider};
use super::*;

fn serve(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fixture_otc")).arg("serve").args(args).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn an_unprotected_command_line_is_rejected() {
    for (args, said) in [
        (&["--allow-unauthenticated"][..], "--otc"),
        (&["--otc", "0", "--read-only"], "cannot be used with"),
        (&["--otc", "nowhere"], "expected an IP address and a port"),
        (&["--otc", "0.0.0.0:0"], "other machines can reach 0.0.0.0:0: set SERVE_TOKEN"),
        (&["--otc", "0", "--token-env", "NOT_SET"], "the environment variable `NOT_SET` is not set"),
        (&["--otc", "0", "--token-env", "A", "--jwt-secret-env", "B"], "cannot be used with"),
    ] {
        let ran = serve(args);
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert_eq!(ran.status.code(), Some(2), "{args:?}: {err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}

#[tokio::test]
async fn unpublished_tools_are_reported() {
    let provider = Provider::start("told");
    let line = "warning: omitted: its output schema has a `$ref`";
    assert!(
        provider.warnings.starts_with(line) && provider.warnings.contains("Wood:grow:1.0.0"),
        "{}",
        provider.warnings
    );
    let dispatcher = dispatcher_on(OtcBackend::new("remote", &provider.url).unwrap()).await;
    assert!(dispatcher.catalog().get("Wood:grow").is_none() && dispatcher.catalog().get("Math:add").is_some());
}

#[test]
fn the_export_equals_the_published_list() {
    let export = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_otc"));
        let ran = command.args(["export", "--format", "otc"]).args(args).env("NO_COLOR", "1").output().unwrap();
        assert!(ran.status.success());
        assert!(String::from_utf8_lossy(&ran.stderr).starts_with("warning: omitted: its output schema has a `$ref`"));
        serde_json::from_slice::<Value>(&ran.stdout).unwrap()
    };
    let listed = export(&[]);
    assert_eq!(listed["$schema"], "urn:oxp:1.0");
    let ids: Vec<&str> = listed["tools"].as_array().unwrap().iter().filter_map(|tool| tool["id"].as_str()).collect();
    assert!(ids.contains(&"Math.add@1.0.0") && ids.contains(&"fixture_otc.shout@0.0.0"), "{ids:?}");
    assert!(export(&["--toolkit", "Mine"]).to_string().contains("\"Mine.shout@0.0.0\""));
}

#[test]
fn an_address_that_is_taken_is_an_error() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = serve(&["--otc", &address]);
    assert_eq!(ran.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&ran.stderr).contains(&format!("cannot listen at {address}: ")));
}

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
