//! Calls that become tasks, in both eras and over both transports. Each message of the server matches the official
//! schema of its revision.

mod asking;
mod cancelling;
mod lifecycle;
mod negotiation;
mod notifications;
mod owners;
mod pressure;
mod rust_sdk;
mod stores;
mod tools;

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY, Era, Way, answered};

/// The capabilities of a client that supports tasks and can ask its user.
fn tasks() -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/tasks": {} }, "elicitation": { "form": {} } })
}

/// The parameters of a call that becomes a task.
fn as_task(era: Era, tool: &str, arguments: Value) -> Value {
    let mut params = json!({ "name": tool, "arguments": arguments });
    if era == Era::Legacy {
        params["task"] = json!({});
    }
    params
}

/// Starts a task and returns it.
async fn start(client: &mut Client, era: Era, tool: &str, arguments: Value) -> Value {
    let response = send(client, "tools/call", &as_task(era, tool, arguments)).await;
    let result = &response["result"];
    let task = if era == Era::Legacy { &result["task"] } else { result };
    assert!(task["taskId"].is_string(), "{response}");
    task.clone()
}

async fn send(client: &mut Client, method: &str, params: &Value) -> Value {
    client.send_request(method, params, &mut |params| unreachable!("{params}")).await
}

async fn get(client: &mut Client, task: &Value) -> Value {
    send(client, "tasks/get", &json!({ "taskId": task["taskId"] })).await
}

/// Polls a task until it has one of these statuses.
async fn poll(client: &mut Client, task: &Value, statuses: &[&str]) -> Value {
    loop {
        let response = get(client, task).await;
        let status = response["result"]["status"].as_str().unwrap_or_else(|| panic!("no task: {response}"));
        if statuses.contains(&status) {
            return response["result"].clone();
        }
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

const ENDED: &[&str] = &["completed", "failed", "cancelled"];

/// Waits for the end of a task and returns the result of its call. The answers of `user` are those to its questions.
async fn result(client: &mut Client, era: Era, task: &Value, mut user: impl FnMut(&Value) -> Value + Send) -> Value {
    if era == Era::Legacy {
        let params = json!({ "taskId": task["taskId"] });
        let response = client.send_request("tasks/result", &params, &mut user).await;
        let related = &response["result"]["_meta"]["io.modelcontextprotocol/related-task"];
        assert_eq!(related["taskId"], task["taskId"], "{response}");
        return response["result"].clone();
    }
    loop {
        let status = poll(client, task, &["input_required", "completed", "failed", "cancelled"]).await;
        if status["status"] != "input_required" {
            return status["result"].clone();
        }
        let answers = answered(&status, &mut user);
        let update = json!({ "taskId": task["taskId"], "inputResponses": answers });
        assert_eq!(send(client, "tasks/update", &update).await["result"]["resultType"], "complete");
    }
}

/// Returns the text of a result.
#[track_caller]
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {result}"))
}
