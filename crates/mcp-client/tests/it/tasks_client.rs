//! Calls that another server runs as tasks: in both eras, over lost connections, and with hostile servers.

mod cancelled;
mod hostile;
mod lifecycle;
mod lost;
mod ours;
mod proxied;
mod questions;
mod scripted;

use serde_json::{Value, json};
use test_support::backends::{collected, dispatcher, in_the_end, until};
use toolkit::{Context, ToolError};
use toolkit_mcp_client::McpBackend;

use self::scripted::{Era, Reply};

const ID: &str = "task-1";

/// Returns the state of the task.
fn state(era: Era, status: &str, more: Value) -> Value {
    let time = "2026-11-23T10:00:00Z";
    let mut state = json!({ "taskId": ID, "status": status, "createdAt": time, "lastUpdatedAt": time });
    match era {
        Era::Legacy => state["pollInterval"] = 100.into(),
        Era::Modern => {
            state["pollIntervalMs"] = 100.into();
            state["resultType"] = "complete".into();
        }
    }
    state[if era == Era::Legacy { "ttl" } else { "ttlMs" }] = 60_000.into();
    let (Value::Object(fields), Value::Object(more)) = (&mut state, more) else { unreachable!() };
    fields.extend(more);
    state
}

/// Returns the response to a call that has become a task.
fn created(era: Era, more: Value) -> Reply {
    let mut task = state(era, "working", more);
    Reply::Result(match era {
        Era::Legacy => json!({ "task": task }),
        Era::Modern => {
            task["resultType"] = "task".into();
            task
        }
    })
}

/// Returns the state of a task that has not ended.
fn working(era: Era) -> Reply {
    Reply::Result(state(era, "working", json!({})))
}

/// Returns the state of a task that has ended with a result. In the earlier era, another request returns the result.
fn completed(era: Era, result: Value) -> Reply {
    let more = if era == Era::Modern { json!({ "result": result }) } else { json!({}) };
    Reply::Result(state(era, "completed", more))
}

fn built() -> Value {
    json!({ "content": [], "structuredContent": "built" })
}

/// Calls the tool `build` of a server.
async fn build(backend: &McpBackend) -> Result<Value, ToolError> {
    build_with(backend, &Context::new()).await
}

async fn build_with(backend: &McpBackend, context: &Context) -> Result<Value, ToolError> {
    let dispatcher = dispatcher(backend).await;
    in_the_end(dispatcher.call_with(context, "up:build", json!({ "target": "all" }))).await.map(|result| result.value())
}
