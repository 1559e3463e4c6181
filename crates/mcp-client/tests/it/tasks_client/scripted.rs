//! A server with scripted responses, over HTTP in one era.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use toolkit_mcp_client::{Endpoint, McpBackend};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Revision 2025-11-25.
    Legacy,
    /// Revision 2026-07-28, with the extension for tasks.
    Modern,
}

pub const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

/// The response to a request.
pub enum Reply {
    Result(Value),
    Error(i64, &'static str),
    /// An HTTP error.
    Status(u16),
    /// The head of a response, after which the connection is cut.
    Cut,
    /// A question to the user, on the stream of a request for the state of a task.
    Ask {
        question: Value,
        state: Value,
    },
    /// A result with the answer to the question of the task as `structuredContent`.
    Answer,
    /// The result once the sender has sent it.
    Later(oneshot::Receiver<Value>),
}

/// A request that the server has received.
#[derive(Clone, Debug)]
pub struct Seen {
    pub method: String,
    pub params: Value,
    /// The header `Mcp-Name`.
    pub name: Option<String>,
}

type Script = Box<dyn FnMut(&str, &Value) -> Reply + Send>;

/// A server. Clones share their state.
#[derive(Clone)]
pub struct Scripted(Arc<Inner>);

struct Inner {
    era: Era,
    tools: Value,
    capabilities: Value,
    script: Mutex<Script>,
    seen: Mutex<Vec<Seen>>,
    /// The open questions by id.
    questions: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    /// Their answers by task.
    answers: Mutex<HashMap<String, oneshot::Receiver<Value>>>,
    address: Mutex<String>,
}

/// A tool with this support of tasks.
pub fn tool(name: &str, support: Option<&str>) -> Value {
    let mut tool = json!({ "name": name, "description": "Builds.", "inputSchema": { "type": "object" } });
    if let Some(support) = support {
        tool["execution"] = json!({ "taskSupport": support });
    }
    tool
}

impl Scripted {
    /// Starts a server with the tool `build`, which requires a task up to revision 2025-11-25. `script` responds to
    /// each request for a call or a task.
    pub async fn start(era: Era, script: impl FnMut(&str, &Value) -> Reply + Send + 'static) -> Self {
        let (tools, capabilities) = match era {
            Era::Legacy => {
                let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
                (json!([tool("build", Some("required"))]), json!({ "tools": {}, "tasks": tasks }))
            }
            Era::Modern => {
                let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
                (json!([tool("build", None)]), json!({ "tools": {}, "extensions": extensions }))
            }
        };
        Self::with(era, tools, capabilities, script).await
    }

    pub async fn with(
        era: Era,
        tools: Value,
        capabilities: Value,
        script: impl FnMut(&str, &Value) -> Reply + Send + 'static,
    ) -> Self {
        let server = Self(Arc::new(Inner {
            era,
            tools,
            capabilities,
            script: Mutex::new(Box::new(script)),
            seen: Mutex::default(),
            questions: Mutex::default(),
            answers: Mutex::default(),
            address: Mutex::default(),
        }));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        *server.0.address.lock().unwrap() = format!("http://{}/mcp", listener.local_addr().unwrap());
        let router = Router::new().fallback(respond).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        server
    }

    pub fn backend(&self) -> McpBackend {
        let endpoint = Endpoint::new(&self.0.address.lock().unwrap()).unwrap();
        McpBackend::http("up", endpoint).timeout(Duration::from_secs(60))
    }

    /// Returns the requests with this method.
    pub fn seen(&self, method: &str) -> Vec<Seen> {
        let seen = self.0.seen.lock().unwrap();
        seen.iter().filter(|seen| seen.method == method).cloned().collect()
    }

    fn result(&self, method: &str) -> Option<Reply> {
        let (era, capabilities) = (self.0.era, &self.0.capabilities);
        let server = json!({ "name": "scripted", "version": "1" });
        Some(match method {
            "server/discover" if era == Era::Legacy => Reply::Error(-32601, "unknown method"),
            "server/discover" => Reply::Result(json!({
                "resultType": "complete",
                "supportedVersions": ["2026-07-28"],
                "capabilities": capabilities,
                "serverInfo": server,
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            "initialize" => Reply::Result(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "serverInfo": server,
            })),
            "ping" => Reply::Result(json!({})),
            "tools/list" => Reply::Result(json!({
                "resultType": "complete",
                "tools": self.0.tools,
                "ttlMs": 0,
                "cacheScope": "private",
            })),
            _ => return None,
        })
    }
}

async fn respond(State(server): State<Scripted>, method: Method, headers: HeaderMap, body: String) -> Response {
    if method != Method::POST {
        return StatusCode::METHOD_NOT_ALLOWED.into_response();
    }
    let message: Value = serde_json::from_str(&body).unwrap();
    let id = message["id"].clone();
    let Some(method) = message["method"].as_str() else {
        // The response to a question.
        let asked = server.0.questions.lock().unwrap().remove(id.as_str().unwrap_or_default());
        if let Some(asked) = asked {
            let _ = asked.send(message);
        }
        return StatusCode::ACCEPTED.into_response();
    };
    let name = headers.get("mcp-name").map(|name| name.to_str().unwrap().to_owned());
    let params = message["params"].clone();
    server.0.seen.lock().unwrap().push(Seen { method: method.to_owned(), params: params.clone(), name });
    if id.is_null() {
        return StatusCode::ACCEPTED.into_response();
    }
    let reply = server.result(method).unwrap_or_else(|| (server.0.script.lock().unwrap())(method, &params));
    let result = |result: &Value| json!({ "jsonrpc": "2.0", "id": id, "result": result });
    match reply {
        Reply::Result(value) => sent(&result(&value)),
        Reply::Error(code, text) => {
            sent(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": text } }))
        }
        Reply::Status(status) => StatusCode::from_u16(status).unwrap().into_response(),
        Reply::Cut => {
            let cut = futures_util::stream::once(async { Err::<String, _>(std::io::Error::other("cut")) });
            ([("content-type", "application/json")], axum::body::Body::from_stream(cut)).into_response()
        }
        Reply::Later(later) => sent(&result(&later.await.unwrap())),
        Reply::Ask { question, state } => {
            let (asked, answer) = oneshot::channel();
            let task = state["taskId"].as_str().unwrap().to_owned();
            let key = format!("question of {task}");
            let question = json!({ "jsonrpc": "2.0", "id": key, "method": "elicitation/create", "params": question });
            server.0.questions.lock().unwrap().insert(key, asked);
            server.0.answers.lock().unwrap().insert(task, answer);
            let events = format!("data: {question}\n\ndata: {}\n\n", result(&state));
            ([("content-type", "text/event-stream")], events).into_response()
        }
        Reply::Answer => {
            let answer = server.0.answers.lock().unwrap().remove(params["taskId"].as_str().unwrap()).unwrap();
            sent(&result(&json!({ "content": [], "structuredContent": answer.await.unwrap() })))
        }
    }
}

fn sent(message: &Value) -> Response {
    ([("content-type", "application/json")], message.to_string()).into_response()
}
