//! The server of `toolkit-mcp-server`, with the newest revision, over both transports.

use std::process::Stdio;
use std::sync::{Arc, Mutex};

use serde_json::json;
use test_support::program;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{Context, Dispatcher};
use toolkit_mcp_client::{Endpoint, McpBackend, Program};

use super::{call, call_restarted, dispatcher, in_the_end};

fn over_stdio() -> McpBackend {
    McpBackend::stdio("ours", Program::new(program("fixture_ours")))
}

/// Starts the server on this port, or on a free one. Returns the process and its address.
async fn serving(address: &str) -> (Child, String) {
    let mut server = Command::new(program("fixture_ours"));
    let mut server = server.arg(address).stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
    let address = in_the_end(lines.next_line()).await.unwrap().unwrap();
    (server, address)
}

fn over_http(address: &str) -> McpBackend {
    McpBackend::http("ours", Endpoint::new(&format!("http://{address}/mcp")).unwrap())
}

/// The checks for both transports.
async fn is_like_any_other(backend: &McpBackend) {
    let dispatcher = dispatcher(backend).await;
    let sum = call(&dispatcher, "ours:math_add", json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(sum, json!({ "sum": 3 }));
    let error = call(&dispatcher, "ours:math_add", json!({ "a": "x" })).await.unwrap_err();
    assert_eq!((error.kind(), error.violations().len()), (ErrorKind::InvalidArguments, 2));
    let error = call(&dispatcher, "ours:test_error_handling", json!({})).await.unwrap_err();
    assert_eq!(error.message(), "This tool intentionally returns an error for testing");
    let error = call(&dispatcher, "ours:test_internal_error", json!({})).await.unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"));

    // Over HTTP its arguments are repeated in headers.
    let rows = call(&dispatcher, "ours:test_x_mcp_header", json!({ "region": "eu west", "limit": 3 })).await.unwrap();
    assert_eq!(rows, "3 rows from eu west");
    let picture = in_the_end(dispatcher.call("ours:test_image_content", json!({}))).await.unwrap();
    assert_eq!(picture.content().len(), 1);

    reports_progress(&dispatcher).await;
    is_told_of_changes(backend, &dispatcher).await;
    in_the_end(backend.health()).await.unwrap();
}

async fn reports_progress(dispatcher: &Dispatcher) {
    let heard = Arc::new(Mutex::new(Vec::new()));
    let context = Context::new().on_progress({
        let heard = Arc::clone(&heard);
        move |progress| heard.lock().unwrap().push(progress.done)
    });
    in_the_end(dispatcher.call_with(&context, "ours:test_tool_with_progress", json!({}))).await.unwrap();
    assert_eq!(*heard.lock().unwrap(), [0.0, 50.0, 100.0]);
}

async fn is_told_of_changes(backend: &McpBackend, dispatcher: &Dispatcher) {
    in_the_end(async {
        // The subscription starts concurrently with the first calls.
        let announcing = async {
            loop {
                call(dispatcher, "ours:test_trigger_tool_change", json!({})).await.unwrap();
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        tokio::select! { () = backend.changed() => {}, () = announcing => {} }
    })
    .await;
}

#[tokio::test]
async fn our_server_over_stdio_is_like_any_other() {
    let backend = over_stdio();
    is_like_any_other(&backend).await;
    in_the_end(backend.stop()).await.unwrap();
}

#[tokio::test]
async fn our_server_over_http_is_like_any_other() {
    let (_server, address) = serving("127.0.0.1:0").await;
    is_like_any_other(&over_http(&address)).await;
}

#[tokio::test]
async fn many_calls_at_once_get_each_their_own_result() {
    let (_server, address) = serving("127.0.0.1:0").await;
    for backend in [over_stdio(), over_http(&address)] {
        let dispatcher = dispatcher(&backend).await;
        let calls = (0..100).map(|n| {
            let dispatcher = dispatcher.clone();
            tokio::spawn(async move { call(&dispatcher, "ours:math_add", json!({ "a": n, "b": 1 })).await })
        });
        for (n, call) in calls.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(in_the_end(call).await.unwrap().unwrap(), json!({ "sum": n + 1 }));
        }
    }
}

#[tokio::test]
async fn a_lost_http_server_is_unavailable_until_it_returns() {
    let (mut server, address) = serving("127.0.0.1:0").await;
    let dispatcher = dispatcher(&over_http(&address)).await;
    let waiting = call(&dispatcher, "ours:sleep", json!({ "ms": 600_000 }));
    let (error, ()) = tokio::join!(waiting, async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        server.kill().await.unwrap();
    });
    let error = error.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::OutcomeUnknown, false), "{error:?}");
    let error = call(&dispatcher, "ours:math_add", json!({ "a": 1, "b": 2 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error:?}");

    let (_server, _) = serving(&address).await;
    call_restarted(&dispatcher, "ours:test_x_mcp_header", json!({ "region": "eu" })).await.unwrap();
}
