//! Limits of one server.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt, copy};
use tokio::net::{TcpSocket, TcpStream};
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::raw::{Way, raw, tools};
use super::{call, dispatcher, in_the_end, peer, until};

#[tokio::test]
async fn calls_beyond_the_concurrency_limit_wait_and_then_fail() {
    let file = std::env::temp_dir().join(format!("toolkit-limits-{}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    let arguments = json!({ "file": file });
    let backend = peer(&["usual"]).max_concurrent_calls(1).timeout(Duration::from_millis(300));
    let limited = dispatcher(&backend).await;
    let (waited, excess) =
        tokio::join!(call(&limited, "peer:wait", arguments.clone()), call(&limited, "peer:pid", json!({})));
    assert_eq!(waited.unwrap_err().kind(), ErrorKind::TimedOut);
    // The call that waited has either got the permit at the very end or not.
    if let Err(error) = excess {
        let message = "the MCP server `peer` is at its limit of 1 concurrent calls; try again later";
        assert_eq!((error.kind(), error.message()), (ErrorKind::Overloaded, message));
    }

    let patient = dispatcher(&peer(&["usual"]).max_concurrent_calls(1)).await;
    let (mut waiting, mut next) =
        (Box::pin(call(&patient, "peer:wait", arguments)), Box::pin(call(&patient, "peer:pid", json!({}))));
    tokio::select! {
        biased;
        _ = &mut waiting => panic!("the file does not exist yet"),
        _ = &mut next => panic!("a call exceeds the limit"),
        () = tokio::time::sleep(Duration::from_millis(200)) => {}
    }
    std::fs::write(&file, "").unwrap();
    let (waited, next) = tokio::join!(waiting, next);
    assert_eq!(waited.unwrap(), "waited");
    assert!(next.unwrap().is_u64());
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_result_beyond_the_limit_of_its_server_is_an_error() {
    let limited = dispatcher(&peer(&["usual"]).max_result_bytes(200)).await;
    assert!(call(&limited, "peer:pid", json!({})).await.is_ok());
    let error = call(&limited, "peer:echo", json!({ "text": "x".repeat(200) })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
    assert!(error.message().ends_with("bytes, more than the limit of 200"), "{error}");
}

#[tokio::test]
async fn requests_of_a_server_are_rejected_and_not_left_unanswered() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let schema = json!({ "type": "object", "properties": {} });
    for (method, params) in [
        ("roots/list", json!({})),
        ("sampling/createMessage", json!({ "messages": [], "maxTokens": 1 })),
        // Malformed.
        ("sampling/createMessage", json!({ "messages": 7 })),
        ("elicitation/create", json!({ "message": "Your name?", "requestedSchema": schema })),
        ("elicitation/create", json!({ "mode": "telepathy" })),
        ("other/method", json!({})),
    ] {
        let request = json!({ "method": method, "params": params });
        let code = in_the_end(dispatcher.call("peer:request", request)).await.unwrap().value();
        assert_eq!(code, -32601, "{method}");
    }
}

/// Passes on what a server sends, up to a number of bytes in each connection. Returns the URL, and the number of connections that
/// have reached it.
async fn stalling(url: &str, n_bytes: u64) -> (String, Arc<AtomicUsize>) {
    let address = url.trim_start_matches("http://").trim_end_matches("/mcp").to_owned();
    // What the system keeps for a client that does not read must be less than the bytes passed on.
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_send_buffer_size(64 << 10).unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(16).unwrap();
    let own = format!("http://{}/mcp", listener.local_addr().unwrap());
    let n_stalled = Arc::new(AtomicUsize::new(0));
    let stalled = Arc::clone(&n_stalled);
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let (server, stalled) = (TcpStream::connect(&address).await.unwrap(), Arc::clone(&stalled));
            tokio::spawn(async move {
                let ((mut asking, mut to_client), (from_server, mut to_server)) =
                    (client.into_split(), server.into_split());
                tokio::spawn(async move { copy(&mut asking, &mut to_server).await });
                if copy(&mut from_server.take(n_bytes), &mut to_client).await.is_ok_and(|n| n == n_bytes) {
                    stalled.fetch_add(1, Ordering::SeqCst);
                    pending::<()>().await;
                }
            });
        }
    });
    (own, n_stalled)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_results_of_a_server_that_stalls_leave_memory_to_those_of_others() {
    const N_BYTES: usize = 15 << 20;

    let result = json!({ "content": [{ "type": "text", "text": "x".repeat(N_BYTES) }] }).to_string().into_bytes();
    let server = raw(Way::Json, [("tools_list", tools(&["large"])), ("call_large", result)]).await;
    let (url, n_stalled) = stalling(&server.url, 14 << 20).await;
    let stalls = dispatcher(&McpBackend::http("stalls", Endpoint::new(&url).unwrap())).await;
    let others = dispatcher(&McpBackend::http("others", Endpoint::new(&server.url).unwrap())).await;
    let calls: Vec<_> = (0..8)
        .map(|_| {
            let stalls = stalls.clone();
            tokio::spawn(async move { stalls.call("stalls:large", json!({})).await.is_ok() })
        })
        .collect();
    until(async || n_stalled.load(Ordering::SeqCst) == 1).await;
    for _ in 0..2 {
        let text = call(&others, "others:large", json!({})).await.unwrap();
        assert_eq!(text.as_str().map(str::len), Some(N_BYTES));
    }
    // The other calls wait with the front of their results.
    assert_eq!(n_stalled.load(Ordering::SeqCst), 1);
    // The calls return their memory when they end.
    calls.iter().for_each(tokio::task::JoinHandle::abort);
    let again = dispatcher(&McpBackend::http("stalls", Endpoint::new(&server.url).unwrap())).await;
    assert!(call(&again, "stalls:large", json!({})).await.is_ok());
}
