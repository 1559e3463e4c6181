//! Limits of one server.

use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;

use super::{call, dispatcher, in_the_end, peer};

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
