//! Servers that violate the protocol of tasks.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use super::scripted::{ERAS, Era, Reply, Scripted};
use super::{build, built, completed, created, in_the_end, state, until, working};

/// Calls a tool whose task has these states, the last of which is repeated. Returns the error and the server.
async fn error_of(era: Era, states: Vec<Value>) -> (ToolError, Scripted) {
    let mut states = states.into_iter().peekable();
    let mut last = json!({});
    let server = Scripted::start(era, move |method, _| match method {
        "tools/call" => created(era, json!({})),
        "tasks/get" => {
            last = states.next().unwrap_or(last.take());
            Reply::Result(last.clone())
        }
        "tasks/result" => Reply::Status(503),
        _ => Reply::Result(json!({ "resultType": "complete" })),
    })
    .await;
    let error = build(&server.backend()).await.unwrap_err();
    (error, server)
}

#[tokio::test]
async fn a_malformed_state_is_an_error_that_cancels_the_task() {
    for era in ERAS {
        for (malformed, message) in [
            (json!({ "taskId": "task-2" }), "responded with the state of another task"),
            (json!({ "taskId": null }), "responded with the state of another task"),
            (json!({ "status": "done" }), "responded with an unknown status of a task"),
            (json!({ "status": null }), "responded with an unknown status of a task"),
        ] {
            let states = vec![state(era, "working", json!({})), state(era, "working", malformed)];
            let (error, server) = error_of(era, states).await;
            assert_eq!(error.kind(), ErrorKind::InvalidResponse);
            assert_eq!(error.message(), format!("the MCP server `up` {message}"), "{era:?}");
            until(async || server.seen("tasks/cancel").len() == 1).await;
        }
        let (error, _) = error_of(era, vec![json!({ "content": [] })]).await;
        assert_eq!(error.kind(), ErrorKind::InvalidResponse, "{era:?}: {error}");
    }
}

#[tokio::test]
async fn an_end_without_a_result_or_an_error_is_an_error() {
    for (end, message) in [
        (json!({}), "the MCP server `up` responded with an invalid result"),
        (json!({ "result": "built" }), "the MCP server `up` responded with an invalid result"),
        (
            json!({ "result": { "resultType": "task" } }),
            "the MCP server `up` responded with an incomplete result of a task",
        ),
        (
            json!({ "result": { "resultType": "input_required", "inputRequests": {} } }),
            "the MCP server `up` responded with an incomplete result of a task",
        ),
    ] {
        let (error, _) = error_of(Era::Modern, vec![state(Era::Modern, "completed", end)]).await;
        assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidResponse, message));
    }
    for (end, message) in [
        (json!({}), "responded with a failed task without an error"),
        (json!({ "error": null }), "responded with a failed task without an error"),
        (json!({ "error": "full" }), "failed with error -32603: full"),
        (json!({ "error": {} }), "failed with error -32603"),
    ] {
        let (error, _) = error_of(Era::Modern, vec![state(Era::Modern, "failed", end)]).await;
        assert_eq!(error.message(), format!("the MCP server `up` {message}"));
    }
}

#[tokio::test]
async fn a_task_cannot_run_again_after_its_end() {
    let states = ["completed", "working"].map(|status| state(Era::Legacy, status, json!({})));
    let (error, _) = error_of(Era::Legacy, states.into()).await;
    assert_eq!(error.message(), "the MCP server `up` responded with a task that runs again after its end");
}

#[tokio::test]
async fn the_id_of_a_task_is_bounded() {
    for era in ERAS {
        for (id, message) in [
            (json!("x".repeat(5 << 20)), "with a task whose id has more than 4096 bytes"),
            (json!(""), "with a task without an id"),
            (json!(7), "with a task without an id"),
        ] {
            let server = Scripted::start(era, move |_, _| created(era, json!({ "taskId": id }))).await;
            let error = build(&server.backend()).await.unwrap_err();
            assert_eq!(error.message(), format!("the MCP server `up` responded {message}"), "{era:?}");
            assert!(server.seen("tasks/get").is_empty() && server.seen("tasks/cancel").is_empty());
        }
        let id = "ü".repeat(1000);
        let echoed = id.clone();
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({ "taskId": echoed })),
            "tasks/get" => Reply::Result(state(era, "completed", json!({ "taskId": echoed, "result": built() }))),
            _ => Reply::Result(built()),
        })
        .await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built");
        assert!(server.seen("tasks/get")[0].params["taskId"] == id);
    }
}

#[tokio::test]
async fn a_task_is_not_polled_without_pause() {
    for era in ERAS {
        for interval in [json!(0), json!(-5), json!(0.001), json!("often")] {
            let key = if era == Era::Legacy { "pollInterval" } else { "pollIntervalMs" };
            let mut since = None;
            let server = Scripted::start(era, move |method, _| match method {
                "tools/call" => created(era, json!({ key: interval })),
                "tasks/get" if since.get_or_insert_with(Instant::now).elapsed() < Duration::from_millis(450) => {
                    Reply::Result(state(era, "working", json!({ key: interval })))
                }
                "tasks/get" => completed(era, built()),
                _ => Reply::Result(built()),
            })
            .await;
            build(&server.backend()).await.unwrap();
            let n_polls = server.seen("tasks/get").len();
            assert!((2..=7).contains(&n_polls), "{era:?}: {n_polls} requests");
        }
    }
}

#[tokio::test]
async fn an_interval_of_any_size_is_a_wait() {
    for era in ERAS {
        for interval in [json!(u64::MAX), json!(1e300), json!(i64::MIN)] {
            let key = if era == Era::Legacy { "pollInterval" } else { "pollIntervalMs" };
            let mut n_polls = 0;
            let server = Scripted::start(era, move |method, _| match method {
                "tools/call" => created(era, json!({ key: interval })),
                "tasks/get" if n_polls < 2 => {
                    n_polls += 1;
                    Reply::Result(state(era, "working", json!({ key: interval })))
                }
                "tasks/get" => completed(era, built()),
                _ => Reply::Result(built()),
            })
            .await;
            assert_eq!(in_the_end(build(&server.backend())).await.unwrap(), "built");
        }
    }
}

#[tokio::test]
async fn capabilities_of_any_type_are_accepted() {
    let required = { super::scripted::tool("build", Some("optional")) };
    for capabilities in [
        json!({ "tools": {}, "tasks": 7 }),
        json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": false } } } }),
        json!({ "tools": {}, "tasks": { "requests": [] } }),
    ] {
        let script = |_: &str, _: &Value| Reply::Result(built());
        let server = Scripted::with(Era::Legacy, json!([required]), capabilities, script).await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built");
        assert_eq!(server.seen("tools/call")[0].params.get("task"), None);
    }
}

/// The server repeats one state, so the call ends with its timeout.
#[tokio::test]
async fn a_task_that_never_ends_is_an_error() {
    for era in ERAS {
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            _ => working(era),
        })
        .await;
        let error = build(&server.backend().timeout(Duration::from_millis(500))).await.unwrap_err();
        assert_eq!(error.message(), "the MCP server `up` did not respond within 500ms", "{era:?}");
    }
}
