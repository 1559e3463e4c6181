//! Tasks from their creation to their end.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolkit::Context;
use toolkit::call::ErrorKind;

use super::scripted::{ERAS, Era, Reply, Scripted, tool};
use super::{ID, build, build_with, built, collected, completed, created, dispatcher, in_the_end, state, working};

const EXTENSION: &str = "/_meta/io.modelcontextprotocol~1clientCapabilities/extensions/io.modelcontextprotocol~1tasks";

/// A server whose task ends with this state, which is reached after two requests.
async fn ending_with(era: Era, status: &'static str, more: Value, result: fn() -> Reply) -> Scripted {
    let mut n_polls = 0;
    Scripted::start(era, move |method, _| match method {
        "tools/call" => created(era, json!({ "statusMessage": "step 0" })),
        "tasks/get" if n_polls < 2 => {
            n_polls += 1;
            Reply::Result(state(era, "working", json!({ "statusMessage": format!("step {n_polls}") })))
        }
        "tasks/get" => Reply::Result(state(era, status, more.clone())),
        "tasks/result" => result(),
        method => panic!("{method}"),
    })
    .await
}

#[tokio::test]
async fn a_call_returns_the_result_of_its_task() {
    for era in ERAS {
        let server = ending_with(era, "completed", json!({ "result": built() }), || Reply::Result(built())).await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built", "{era:?}");

        let [call] = &server.seen("tools/call")[..] else { panic!("{era:?}") };
        assert_eq!(call.params["arguments"], json!({ "target": "all" }));
        let polls = server.seen("tasks/get");
        assert_eq!(polls.len(), 3);
        assert!(polls.iter().all(|poll| poll.params["taskId"] == ID));
        assert!(server.seen("tasks/cancel").is_empty(), "{era:?}");
        match era {
            Era::Legacy => {
                // The task is kept for longer than the call may take.
                assert!(call.params["task"]["ttl"].as_u64().unwrap() > 60_000, "{call:?}");
                assert_eq!(server.seen("tasks/result").len(), 1);
            }
            Era::Modern => {
                assert_eq!(call.params.get("task"), None);
                for request in polls.iter().chain([call]) {
                    assert_eq!(request.params.pointer(EXTENSION), Some(&json!({})), "{request:?}");
                }
                assert!(polls.iter().all(|poll| poll.name.as_deref() == Some(ID)));
                assert!(server.seen("tasks/result").is_empty());
            }
        }
    }
}

#[tokio::test]
async fn descriptions_of_the_status_are_progress() {
    for era in ERAS {
        let server = ending_with(era, "completed", json!({ "result": built() }), || Reply::Result(built())).await;
        let heard: Arc<Mutex<Vec<(f64, String)>>> = Arc::default();
        let context = Context::new().on_progress({
            let heard = Arc::clone(&heard);
            move |progress| heard.lock().unwrap().push((progress.done, progress.message))
        });
        build_with(&server.backend(), &context).await.unwrap();
        let heard = heard.lock().unwrap();
        let messages: Vec<&str> = heard.iter().map(|(_, message)| &**message).collect();
        assert_eq!(messages, ["step 1", "step 2"], "{era:?}");
        assert!(heard.is_sorted_by(|(first, _), (second, _)| first < second), "{heard:?}");
    }
}

#[tokio::test]
async fn a_task_that_fails_is_an_error_of_the_call() {
    let error = json!({ "error": { "code": -32603, "message": "the disk of host 7 is full" } });
    for era in ERAS {
        let result = || Reply::Error(-32603, "the disk of host 7 is full");
        let server = ending_with(era, "failed", error.clone(), result).await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Internal, "the MCP server `up` failed with error -32603: the disk of host 7 is full")
        );
        assert!(server.seen("tasks/cancel").is_empty(), "{era:?}");

        let server = ending_with(era, "cancelled", json!({}), || Reply::Error(-32603, "no result")).await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!(error.message(), "the MCP server `up` canceled the task of this call", "{era:?}");
        assert!(server.seen("tasks/cancel").is_empty(), "{era:?}");
    }
}

#[tokio::test]
async fn an_error_of_the_tool_is_one_of_the_call() {
    let failed = || json!({ "content": [{ "type": "text", "text": "no such target" }], "isError": true });
    for (era, status) in [(Era::Legacy, "failed"), (Era::Legacy, "completed"), (Era::Modern, "completed")] {
        let result: fn() -> Reply =
            || Reply::Result(json!({ "content": [{ "type": "text", "text": "no such target" }], "isError": true }));
        let server = ending_with(era, status, json!({ "result": failed() }), result).await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "no such target"), "{era:?}");
    }
}

#[tokio::test]
async fn the_result_of_a_task_is_validated() {
    for era in ERAS {
        let mut build = tool("build", Some("optional"));
        build["outputSchema"] = json!({ "type": "object", "required": ["size"] });
        let capabilities = json!({ "tools": {}, "tasks": { "requests": { "tools": { "call": {} } } } });
        let script = move |method: &str, _: &Value| match method {
            "tools/call" => created(era, json!({})),
            "tasks/get" => completed(era, json!({ "content": [], "structuredContent": {} })),
            _ => Reply::Result(json!({ "content": [], "structuredContent": {} })),
        };
        let server = Scripted::with(era, json!([build]), capabilities, script).await;
        let error = super::build(&server.backend()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidOutput, "{era:?}: {error}");

        let server = ending_with(era, "completed", json!({ "result": built() }), || Reply::Result(built())).await;
        let error = super::build(&server.backend().max_result_bytes(10)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResultTooLarge, "{era:?}");
    }
}

#[tokio::test]
async fn only_tools_that_support_tasks_are_called_as_tasks() {
    let tools = json!([tool("plain", None), tool("never", Some("forbidden")), tool("may", Some("optional"))]);
    for is_supported in [true, false] {
        let tasks = if is_supported { json!({ "requests": { "tools": { "call": {} } } }) } else { json!({}) };
        let capabilities = json!({ "tools": {}, "tasks": tasks });
        let script = |method: &str, params: &Value| match method {
            "tools/call" if params.get("task").is_some() => created(Era::Legacy, json!({})),
            "tools/call" | "tasks/result" => Reply::Result(built()),
            _ => Reply::Result(state(Era::Legacy, "completed", json!({}))),
        };
        let server = Scripted::with(Era::Legacy, tools.clone(), capabilities, script).await;
        let dispatcher = dispatcher(&server.backend()).await;
        for name in ["plain", "never", "may"] {
            let result = in_the_end(dispatcher.call(&format!("up:{name}"), json!({}))).await.unwrap();
            assert_eq!(result.value(), "built");
        }
        let as_tasks = server.seen("tools/call").iter().filter(|call| call.params.get("task").is_some()).count();
        assert_eq!(as_tasks, usize::from(is_supported));
        assert_eq!(server.seen("tasks/result").len(), as_tasks);
    }
}

#[tokio::test]
async fn a_tool_that_requires_tasks_is_left_out_if_its_server_has_none() {
    let tools = json!([tool("plain", None), tool("build", Some("required"))]);
    let script = |_: &str, _: &Value| Reply::Result(built());
    let server = Scripted::with(Era::Legacy, tools, json!({ "tools": {} }), script).await;
    let collected = collected(&server.backend()).await;
    assert_eq!(collected.catalog.iter().count(), 1);
    let [diagnostic] = &collected.diagnostics[..] else { panic!("{collected:?}") };
    assert!(diagnostic.message().contains("`build`") && diagnostic.message().contains("taskSupport"), "{diagnostic}");
}

#[tokio::test]
async fn a_server_that_responds_at_once_creates_no_task() {
    for era in ERAS {
        let server = Scripted::start(era, |_, _| Reply::Result(built())).await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built");
        assert!(server.seen("tasks/get").is_empty() && server.seen("tasks/cancel").is_empty());
    }
}

/// Some servers return an error from `tasks/result` instead of waiting for the end.
#[tokio::test]
async fn a_server_that_does_not_wait_for_the_result_is_polled() {
    let mut n_polls = 0;
    let server = Scripted::start(Era::Legacy, move |method, _| match method {
        "tools/call" => created(Era::Legacy, json!({})),
        "tasks/get" => {
            n_polls += 1;
            match n_polls {
                1 => Reply::Result(state(Era::Legacy, "input_required", json!({}))),
                2 => working(Era::Legacy),
                _ => completed(Era::Legacy, built()),
            }
        }
        "tasks/result" if n_polls == 1 => Reply::Error(-32600, "not completed"),
        _ => Reply::Result(built()),
    })
    .await;
    assert_eq!(build(&server.backend()).await.unwrap(), "built");
    assert_eq!(server.seen("tasks/result").len(), 2);
}
