//! Servers with the transport HTTP+SSE of revision 2024-11-05.

use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_mcp_client::{McpBackend, McpServers};

use super::{call, dispatcher, in_the_end, until};

#[derive(Clone, Default)]
struct Old(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    /// The stream of the last client, and the number of streams.
    stream: Option<UnboundedSender<String>>,
    n_streams: usize,
    endpoint: String,
    /// The status of the responses to messages. Default: 202.
    status: Option<StatusCode>,
    /// The messages of clients, with their tokens.
    received: Vec<(String, Value)>,
}

impl Old {
    async fn start(endpoint: &str) -> (Self, McpBackend) {
        let old = Self::default();
        old.0.lock().unwrap().endpoint = endpoint.to_owned();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/sse", listener.local_addr().unwrap());
        let router = Router::new().route("/sse", get(open)).route("/messages", post(received)).with_state(old.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        let entry = json!({ "type": "sse", "url": url, "headers": { "authorization": "Bearer hunter2" } });
        let servers = McpServers::from_json(&json!({ "mcpServers": { "old": entry } }).to_string()).unwrap();
        assert_eq!((servers.rejected().next(), servers.warnings().next()), (None, None));
        (old, servers.into_iter().next().unwrap())
    }

    fn say(&self, message: &Value) {
        let inner = self.0.lock().unwrap();
        let _ = inner.stream.as_ref().unwrap().send(format!("event: message\ndata: {message}\n\n"));
    }

    fn has_received(&self, is: impl Fn(&Value) -> bool) -> bool {
        self.0.lock().unwrap().received.iter().any(|(_, message)| is(message))
    }
}

async fn open(State(old): State<Old>) -> impl IntoResponse {
    let (stream, events) = unbounded_channel();
    let mut inner = old.0.lock().unwrap();
    stream.send(format!(": hello\n\nevent: endpoint\ndata: {}\n\n", inner.endpoint)).unwrap();
    inner.n_streams += 1;
    inner.stream = Some(stream);
    let events = futures_util::stream::unfold(events, |mut events| async {
        events.recv().await.map(|event| (Ok::<_, Infallible>(event), events))
    });
    ([(header::CONTENT_TYPE, "text/event-stream")], Body::from_stream(events))
}

async fn received(State(old): State<Old>, headers: HeaderMap, body: Bytes) -> StatusCode {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let token = headers[header::AUTHORIZATION].to_str().unwrap().to_owned();
    let status = {
        let mut inner = old.0.lock().unwrap();
        inner.received.push((token, message.clone()));
        inner.status.unwrap_or(StatusCode::ACCEPTED)
    };
    let Some(id) = message.get("id") else { return status };
    let result = match (message["method"].as_str(), message["params"]["name"].as_str()) {
        (Some("initialize"), _) => json!({
            "protocolVersion": "2024-11-05", "capabilities": { "tools": {} }, "serverInfo": { "name": "old", "version": "1" },
        }),
        (Some("tools/list"), _) => {
            let tool = |name| json!({ "name": name, "inputSchema": { "type": "object" } });
            json!({ "tools": [tool("run"), tool("fail"), tool("end")] })
        }
        (Some("tools/call"), Some("run")) => json!({ "content": [{ "type": "text", "text": "ran" }] }),
        (Some("tools/call"), Some("fail")) => {
            let error = json!({ "code": -32000, "message": "no tea" });
            old.say(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
            return status;
        }
        (Some("tools/call"), Some("end")) => {
            old.0.lock().unwrap().stream = None;
            return status;
        }
        _ => return status,
    };
    old.say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    status
}

#[tokio::test]
async fn the_stream_of_events_has_the_responses_of_all_messages() {
    let (old, backend) = Old::start("/messages?session=7").await;
    let dispatcher = dispatcher(&backend).await;
    let calls = (0..8).map(|_| call(&dispatcher, "old:run", json!({})));
    for called in futures_util::future::join_all(calls).await {
        assert_eq!(called.unwrap(), "ran");
    }
    let error = call(&dispatcher, "old:fail", json!({})).await.unwrap_err();
    assert!(error.message().ends_with("no tea"), "{error}");
    old.say(&json!({ "jsonrpc": "2.0", "id": "theirs", "method": "ping" }));
    until(async || old.has_received(|message| message["id"] == "theirs" && message.get("result").is_some())).await;
    let inner = old.0.lock().unwrap();
    assert_eq!((&*inner.received[0].0, &inner.received[0].1["method"]), ("Bearer hunter2", &json!("initialize")));
}

#[tokio::test]
async fn messages_may_be_answered_with_any_status_of_success() {
    for status in [StatusCode::OK, StatusCode::CREATED, StatusCode::NO_CONTENT] {
        let (old, backend) = Old::start("/messages").await;
        old.0.lock().unwrap().status = Some(status);
        let dispatcher = dispatcher(&backend).await;
        assert_eq!(call(&dispatcher, "old:run", json!({})).await.unwrap(), "ran", "{status}");
    }
}

#[tokio::test]
async fn a_call_whose_stream_ends_has_an_unknown_outcome_and_the_next_one_reconnects() {
    let (old, backend) = Old::start("messages").await;
    let dispatcher = dispatcher(&backend).await;
    let error = call(&dispatcher, "old:end", json!({})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error}");
    assert_eq!(call(&dispatcher, "old:run", json!({})).await.unwrap(), "ran");
    assert_eq!(old.0.lock().unwrap().n_streams, 2);
}

#[tokio::test]
async fn messages_are_not_sent_to_another_server() {
    let (old, backend) = Old::start("http://127.0.0.1:1/messages").await;
    assert!(in_the_end(backend.start()).await.is_err());
    assert!(old.0.lock().unwrap().received.is_empty());
}
