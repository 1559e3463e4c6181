//! Tasks of the extension `io.modelcontextprotocol/tasks` on a server of FastMCP, if `tests/clients/servers/run` has
//! installed it.

use std::sync::{Arc, Mutex};

use serde_json::json;
use tokio::sync::Notify;
use toolkit::backend::Backend;
use toolkit::call::ask::{Answer, Asker, Mode, Question};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::{Context, ToolError};
use toolkit_mcp_client::{McpBackend, Program};

use super::{call, dispatcher, in_the_end};

/// A user who tells their name.
struct Ada;

impl Asker for Ada {
    fn can_ask(&self, mode: Mode) -> bool {
        mode == Mode::Form
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, ToolError>> {
        assert_eq!(question.message(), "slow: Who are you?");
        Box::pin(async { Ok(Answer::Accepted(json!({ "name": "Ada" }))) })
    }
}

#[tokio::test]
async fn official_servers_run_calls_as_tasks() {
    let Some(servers) = super::official::installed() else { return };
    let server = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/servers/slow_tools.py");
    let program = Program::new(servers.join("python/bin/python")).arg(server);
    let backend = McpBackend::stdio("slow", program).may_ask();
    let dispatcher = dispatcher(&backend).await;

    let messages: Arc<Mutex<Vec<String>>> = Arc::default();
    let context = Context::new().with_asker(Ada).on_progress({
        let messages = Arc::clone(&messages);
        move |progress| messages.lock().unwrap().push(progress.message)
    });
    let sum = in_the_end(dispatcher.call_with(&context, "slow:add", json!({ "a": 40, "b": 2 }))).await.unwrap();
    assert_eq!(sum.value()["result"], 42);
    assert_eq!(*messages.lock().unwrap(), ["adding"]);

    let greeting = in_the_end(dispatcher.call_with(&context, "slow:greet", json!({}))).await.unwrap();
    assert_eq!(greeting.value()["result"], "Hello, Ada");
    let error = call(&dispatcher, "slow:fail", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "there is no answer"));

    // The tasks of this server do not outlive its process.
    let is_hanging = Arc::new(Notify::new());
    let context = Context::new().on_progress({
        let is_hanging = Arc::clone(&is_hanging);
        move |_| is_hanging.notify_one()
    });
    let crash = async {
        is_hanging.notified().await;
        call(&dispatcher, "slow:crash", json!({})).await.unwrap_err()
    };
    let hang = dispatcher.call_with(&context, "slow:hang", json!({}));
    let (lost, crashed) = in_the_end(async { tokio::join!(hang, crash) }).await;
    assert_eq!(crashed.kind(), ErrorKind::OutcomeUnknown);
    let message = lost.unwrap_err().to_string();
    assert!(message.contains("no longer has the task of this call"), "{message}");
    in_the_end(backend.stop()).await.unwrap();
    test_support::ran(4);
}
