//! Tasks that outlive the connection to their server.

use serde_json::json;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{McpBackend, Program};

use super::scripted::{ERAS, Era, Reply, Scripted};
use super::{ID, build, built, completed, created, dispatcher, in_the_end, working};

#[tokio::test]
async fn a_task_is_polled_after_the_connection_was_lost() {
    for era in ERAS {
        let mut n_polls = 0;
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            "tasks/get" => {
                n_polls += 1;
                match n_polls {
                    1 | 4 => working(era),
                    2 => Reply::Status(503),
                    3 | 5 => Reply::Cut,
                    _ => completed(era, built()),
                }
            }
            "tasks/result" => Reply::Result(built()),
            method => panic!("{method}"),
        })
        .await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built", "{era:?}");
        assert_eq!(server.seen("tools/call").len(), 1, "{era:?}");
        let polls = server.seen("tasks/get");
        assert!(polls.len() == 6 && polls.iter().all(|poll| poll.params["taskId"] == ID), "{polls:?}");
        if era == Era::Legacy {
            // After the status, the server has responded to a check.
            assert_eq!(server.seen("initialize").len(), 3);
        }
    }
}

#[tokio::test]
async fn a_server_that_limits_the_rate_of_requests_keeps_its_connection() {
    for era in ERAS {
        let mut n_polls = 0;
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            "tasks/get" => {
                n_polls += 1;
                if n_polls < 3 { Reply::Status(429) } else { completed(era, built()) }
            }
            _ => Reply::Result(built()),
        })
        .await;
        assert_eq!(build(&server.backend()).await.unwrap(), "built", "{era:?}");
        assert_eq!(server.seen("tasks/get").len(), 3);
        let n_connections = server.seen("initialize").len() + server.seen("server/discover").len();
        assert_eq!(n_connections, if era == Era::Legacy { 2 } else { 1 });
    }
}

#[tokio::test]
async fn a_result_that_was_lost_is_requested_again() {
    let mut n_results = 0;
    let server = Scripted::start(Era::Legacy, move |method, _| match method {
        "tools/call" => created(Era::Legacy, json!({})),
        "tasks/get" => completed(Era::Legacy, built()),
        "tasks/result" if n_results == 0 => {
            n_results += 1;
            Reply::Status(502)
        }
        _ => Reply::Result(built()),
    })
    .await;
    assert_eq!(build(&server.backend()).await.unwrap(), "built");
    assert_eq!(server.seen("tasks/result").len(), 2);
}

#[tokio::test]
async fn a_task_that_the_server_no_longer_has_is_an_error() {
    for era in ERAS {
        let mut n_polls = 0;
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            "tasks/get" if n_polls < 1 => {
                n_polls += 1;
                working(era)
            }
            _ => Reply::Error(-32602, "Failed to retrieve task: Task not found"),
        })
        .await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
        let message = "the MCP server `up` no longer has the task of this call, which may have had effects; the server was \
                       restarted, or the task has expired";
        assert_eq!(error.message(), message, "{era:?}");
        assert_eq!(server.seen("tasks/get").len(), 2);
        assert!(server.seen("tasks/cancel").is_empty());
    }
}

#[tokio::test]
async fn a_server_that_rejects_the_credentials_is_not_asked_again() {
    for era in ERAS {
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            _ => Reply::Status(401),
        })
        .await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unauthorized, "{era:?}");
        assert_eq!(server.seen("tasks/get").len(), 1);
    }
}

/// A program whose tasks are in this file, and which exits at the first request for one.
fn restarted(manner: &str) -> (McpBackend, std::path::PathBuf) {
    let file = std::env::temp_dir().join(format!("toolkit-tasks-{}-{manner}", std::process::id()));
    let _ = std::fs::remove_file(&file);
    (McpBackend::stdio("up", Program::new(test_support::program("fixture_peer")).arg(manner).arg(&file)), file)
}

#[tokio::test]
async fn a_task_outlives_the_process_of_its_server() {
    let (backend, file) = restarted("tasks");
    let dispatcher = dispatcher(&backend).await;
    let result = in_the_end(dispatcher.call("up:build", json!({}))).await.unwrap();
    assert_eq!(result.value(), "built");
    assert_eq!(backend.status().n_restarts, 1);
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_task_that_a_process_has_not_saved_is_an_error() {
    let (backend, file) = restarted("forgotten-tasks");
    let dispatcher = dispatcher(&backend).await;
    let error = in_the_end(dispatcher.call("up:build", json!({}))).await.unwrap_err();
    assert!(error.message().contains("no longer has the task"), "{error}");
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_stopped_server_ends_the_calls_of_its_tasks() {
    for era in ERAS {
        let server = Scripted::start(era, move |method, _| match method {
            "tools/call" => created(era, json!({})),
            _ => working(era),
        })
        .await;
        let backend = server.backend();
        let (outcome, ()) = tokio::join!(build(&backend), async {
            super::until(async || !server.seen("tasks/get").is_empty()).await;
            backend.stop().await.unwrap();
        });
        assert_eq!(outcome.unwrap_err().message(), "the MCP server `up` is stopped", "{era:?}");
    }
}

#[tokio::test]
async fn the_outcome_of_a_call_is_unknown_if_a_gateway_fails() {
    let expected = [
        (500, ErrorKind::OutcomeUnknown, "responded with status 500; the tool may have run"),
        (502, ErrorKind::OutcomeUnknown, "responded with status 502; the tool may have run"),
        (503, ErrorKind::Unavailable, "responded with status 503"),
        (504, ErrorKind::OutcomeUnknown, "responded with status 504; the tool may have run"),
    ];
    for (era, (status, kind, how)) in ERAS.into_iter().flat_map(|era| expected.map(|expected| (era, expected))) {
        let server = Scripted::start(era, move |_, _| Reply::Status(status)).await;
        let error = build(&server.backend()).await.unwrap_err();
        assert_eq!((error.kind(), error.message()), (kind, &*format!("the MCP server `up` {how}")), "{era:?}");
        assert_eq!(server.seen("tools/call").len(), 1);
    }
}
