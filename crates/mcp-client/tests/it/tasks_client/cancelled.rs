//! Calls that end before their tasks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolkit::Context;
use toolkit::backend::Backend;
use toolkit::call::{CancelToken, ErrorKind};

use super::scripted::{ERAS, Era, Reply, Scripted};
use super::{ID, build, build_with, created, dispatcher, state, until, working};

/// A server whose task never ends.
async fn endless(era: Era) -> Scripted {
    Scripted::start(era, move |method, _| match method {
        "tools/call" => created(era, json!({})),
        "tasks/get" => working(era),
        "tasks/cancel" if era == Era::Legacy => Reply::Result(state(era, "cancelled", json!({}))),
        _ => Reply::Result(json!({ "resultType": "complete" })),
    })
    .await
}

async fn assert_cancelled(server: &Scripted, era: Era) {
    until(async || !server.seen("tasks/cancel").is_empty()).await;
    let [cancel] = &server.seen("tasks/cancel")[..] else { panic!("it was cancelled twice") };
    assert_eq!(cancel.params["taskId"], ID);
    if era == Era::Modern {
        assert_eq!(cancel.name.as_deref(), Some(ID));
    }
}

#[tokio::test]
async fn a_cancelled_call_cancels_its_task() {
    for era in ERAS {
        let server = endless(era).await;
        let token = CancelToken::new();
        let context = Context::new().with_cancel(token.clone());
        let backend = server.backend();
        let (outcome, ()) = tokio::join!(build_with(&backend, &context), async {
            until(async || !server.seen("tasks/get").is_empty()).await;
            assert_eq!(backend.status().n_tasks, 1);
            token.cancel();
        });
        assert_eq!(outcome.unwrap_err().kind(), ErrorKind::Cancelled);
        assert_eq!(backend.status().n_tasks, 0);
        assert_cancelled(&server, era).await;
    }
}

#[tokio::test]
async fn a_dropped_call_cancels_its_task() {
    for era in ERAS {
        let server = endless(era).await;
        let backend = server.backend();
        tokio::select! {
            outcome = build(&backend) => panic!("{outcome:?}"),
            () = until(async || !server.seen("tasks/get").is_empty()) => {}
        }
        assert_cancelled(&server, era).await;
    }
}

#[tokio::test]
async fn a_call_that_exceeds_its_timeout_cancels_its_task() {
    for era in ERAS {
        let server = endless(era).await;
        let backend = server.backend().timeout(Duration::from_millis(300));
        assert_eq!(build(&backend).await.unwrap_err().kind(), ErrorKind::TimedOut);
        assert_cancelled(&server, era).await;
    }
}

/// The id of the task is not known yet when the call is dropped.
#[tokio::test]
async fn a_call_that_is_dropped_while_its_task_is_created_cancels_it() {
    let (respond, response) = oneshot::channel();
    let response = Mutex::new(Some(response));
    let server = Scripted::start(Era::Legacy, move |method, _| match method {
        "tools/call" => Reply::Later(response.lock().unwrap().take().unwrap()),
        _ => Reply::Result(state(Era::Legacy, "cancelled", json!({}))),
    })
    .await;
    let backend = server.backend();
    let dispatcher = Arc::new(dispatcher(&backend).await);
    tokio::select! {
        outcome = dispatcher.call("up:build", json!({})) => panic!("{outcome:?}"),
        () = until(async || !server.seen("tools/call").is_empty()) => {}
    }
    assert!(server.seen("tasks/cancel").is_empty());
    let Reply::Result(created) = created(Era::Legacy, json!({})) else { unreachable!() };
    let _: Result<(), Value> = respond.send(created);
    assert_cancelled(&server, Era::Legacy).await;
}
