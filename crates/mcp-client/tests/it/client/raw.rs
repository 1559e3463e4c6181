//! Servers that respond with given bytes, over each transport.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use test_support::program;
use toolkit_mcp_client::{Endpoint, McpBackend, Program};

/// A transport, and the kind of its responses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Way {
    Stdio,
    Json,
    Events,
}

pub(super) const EACH_WAY: [Way; 3] = [Way::Stdio, Way::Json, Way::Events];

/// The bytes of the responses: `tools_list` for a method, `call_NAME` for a tool, with `.error` for an error. The
/// messages under a name with `.before` precede the response, one in a line.
type Responses = HashMap<String, Vec<u8>>;

/// A server that responds with given bytes.
pub(super) struct Raw {
    pub(super) backend: McpBackend,
    /// The URL of an HTTP server.
    pub(super) url: String,
    /// The requests that an HTTP server has received.
    pub(super) requests: Arc<Mutex<Vec<Value>>>,
    /// Their texts.
    pub(super) bodies: Arc<Mutex<Vec<String>>>,
    folder: Option<std::path::PathBuf>,
}

impl Drop for Raw {
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            let _ = std::fs::remove_dir_all(folder);
        }
    }
}

/// Returns the list of these tools.
pub(super) fn tools(names: &[&str]) -> Vec<u8> {
    let tools: Vec<Value> =
        names.iter().map(|name| json!({ "name": name, "inputSchema": { "type": "object" } })).collect();
    json!({ "tools": tools }).to_string().into_bytes()
}

/// Starts a server of revision 2025-11-25.
pub(super) async fn raw<'r>(way: Way, responses: impl IntoIterator<Item = (&'r str, Vec<u8>)>) -> Raw {
    static N_STARTED: AtomicUsize = AtomicUsize::new(0);

    let initialized = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {}, "resources": {}, "logging": {} },
        "serverInfo": { "name": "raw", "version": "1" },
    });
    let mut all = Responses::from([
        ("initialize".to_owned(), initialized.to_string().into_bytes()),
        ("logging_setLevel".to_owned(), b"{}".to_vec()),
    ]);
    all.extend(responses.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)));
    let requests = Arc::<Mutex<Vec<Value>>>::default();
    let bodies = Arc::<Mutex<Vec<String>>>::default();
    if way == Way::Stdio {
        let n_started = N_STARTED.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-raw-{}-{n_started}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, bytes) in all {
            std::fs::write(folder.join(name), bytes).unwrap();
        }
        let program = Program::new(program("fixture_peer")).arg("raw").arg(&folder);
        return Raw {
            backend: McpBackend::stdio("peer", program),
            url: String::new(),
            requests,
            bodies,
            folder: Some(folder),
        };
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let endpoint = Endpoint::new(&url).unwrap();
    let state = (way, Arc::new(all), Arc::clone(&requests), Arc::clone(&bodies));
    let router = Router::new().route("/mcp", post(answer)).with_state(state);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Raw { backend: McpBackend::http("peer", endpoint), url, requests, bodies, folder: None }
}

type Served = (Way, Arc<Responses>, Arc<Mutex<Vec<Value>>>, Arc<Mutex<Vec<String>>>);

async fn answer(State((way, responses, requests, bodies)): State<Served>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    requests.lock().unwrap().push(message.clone());
    bodies.lock().unwrap().push(String::from_utf8_lossy(&body).into_owned());
    if message.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    let name = match message["method"].as_str().unwrap() {
        "tools/call" => format!("call_{}", message["params"]["name"].as_str().unwrap()),
        method => method.replace('/', "_"),
    };
    let unknown = br#"{"code":-32601,"message":"no such method"}"#.to_vec();
    let (field, body) = match (responses.get(&name), responses.get(&format!("{name}.error"))) {
        (Some(result), _) => ("result", result),
        (_, Some(error)) => ("error", error),
        _ => ("error", &unknown),
    };
    let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"{field}\":", message["id"]);
    let response = [head.as_bytes(), body, b"}"].concat();
    if way == Way::Json {
        return ([(header::CONTENT_TYPE, "application/json")], response).into_response();
    }
    let before = responses.get(&format!("{name}.before")).cloned().unwrap_or_default();
    let before = before.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let events: Vec<u8> = before.chain([&*response]).flat_map(|data| [b"data: ", data, b"\n\n"].concat()).collect();
    ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
}
