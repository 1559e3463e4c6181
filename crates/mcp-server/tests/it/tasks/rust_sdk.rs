//! The client of the official Rust SDK, over HTTP. It supports the extension, and no tasks of revision 2025-11-25.

use std::collections::BTreeMap;
use std::future::pending;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, ClientConfig, GetTaskParams, Implementation,
    ProtocolVersion, Task, TaskPayload, TaskStatus, UpdateTaskParams,
};
use rmcp::service::{RoleClient, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientLifecycleMode, ClientServiceExt};
use toolkit_mcp_server::Server;

use super::tools::server;
use super::*;

struct Sdk(RunningService<RoleClient, ClientConfig>);

impl Sdk {
    async fn connect(uri: &str) -> Self {
        // Its HTTP client requires a provider, even without TLS.
        let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
        let capabilities = serde_json::from_value(tasks()).unwrap();
        let config = ClientConfig::new(capabilities, Implementation::from_build_env());
        let transport = StreamableHttpClientTransport::from_uri(uri);
        let lifecycle = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
        Self(config.serve_with_lifecycle(transport, lifecycle).await.unwrap())
    }

    async fn start(&self, tool: &'static str, arguments: Value) -> Task {
        let Value::Object(arguments) = arguments else { panic!("no object") };
        let params = CallToolRequestParams::new(tool).with_arguments(arguments);
        match self.0.call_tool_once(params).await.unwrap() {
            CallToolResponse::Task(created) => created.task,
            other => panic!("no task: {other:?}"),
        }
    }

    async fn poll(&self, task: &Task, until: impl Fn(&TaskPayload) -> bool) -> TaskPayload {
        loop {
            let polled = self.0.get_task(GetTaskParams::new(task.task_id.clone())).await.unwrap().task;
            assert_eq!(polled.task.task_id, task.task_id);
            if until(&polled.payload) {
                return polled.payload;
            }
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
    }

    /// Waits for the end of a task and returns the result of its call.
    async fn completed(&self, task: &Task) -> Value {
        match self.poll(task, |payload| payload.status().is_terminal()).await {
            TaskPayload::Completed { result } => Value::Object(result),
            other => panic!("not completed: {other:?}"),
        }
    }
}

async fn serve(server: &Server) -> String {
    let listening = server.http().bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/mcp", listening.local_addr().unwrap());
    tokio::spawn(listening.run(pending()));
    uri
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_polls_a_task_and_another_connection_reads_its_result() {
    let (server, stage) = server();
    let uri = serve(&server).await;
    let first = Sdk::connect(&uri).await;
    let task = first.start("build", json!({ "name": "a shed" })).await;
    assert_eq!(task.status, TaskStatus::Working);
    drop(first);
    stage.open();
    let second = Sdk::connect(&uri).await;
    assert_eq!(text(&second.completed(&task).await), "a shed is built");
    let task = second.start("build", json!({ "name": "ruin" })).await;
    stage.open();
    let failed = second.completed(&task).await;
    assert_eq!((&failed["isError"], text(&failed)), (&json!(true), "build: it has fallen down"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_answers_the_questions_of_a_task() {
    let (server, stage) = server();
    let client = Sdk::connect(&serve(&server).await).await;
    let task = client.start("paint", json!({})).await;
    stage.open();
    let answers = [("Which color?", json!("red")), ("Who painted?", json!("Ada")), ("How many hours?", json!(3))];
    let mut answered = BTreeMap::new();
    loop {
        let waiting = client.poll(&task, |payload| payload.status() != TaskStatus::Working).await;
        let TaskPayload::InputRequired { input_requests } = waiting else { break };
        let input_requests = json!(input_requests);
        for (key, request) in input_requests.as_object().unwrap() {
            let message = request["params"]["message"].as_str().unwrap();
            let (_, value) = answers.iter().find(|(question, _)| *question == message).unwrap();
            answered.insert(key.clone(), json!({ "action": "accept", "content": { "value": value } }));
        }
        client.0.update_task(UpdateTaskParams::new(task.task_id.clone(), answered.clone())).await.unwrap();
    }
    assert_eq!(text(&client.completed(&task).await), "red, by Ada in 3 hours");
    assert_eq!(answered.len(), 3, "nothing is asked twice");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_rust_sdk_cancels_a_task() {
    let (server, stage) = server();
    let client = Sdk::connect(&serve(&server).await).await;
    let task = client.start("build", json!({ "name": "a shed" })).await;
    client.0.cancel_task(CancelTaskParams::new(task.task_id.clone())).await.unwrap();
    let ended = client.poll(&task, |payload| payload.status().is_terminal()).await;
    assert_eq!(ended.status(), TaskStatus::Cancelled);
    stage.has_seen("dropped").await;
}
