//! Kinds of defects that users of other gateways have reported.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY as EACH_CLIENT};
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_server::{Proxy, Server};

use super::forwarded::proxied;
use super::operators::configured;
use super::raw::{Way, raw, tools};
use super::{dispatcher, in_the_end};

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_servers_that_share_a_listed_name_are_called_by_others() {
    let pairs = [("acme_", "status"), ("acme", "_status"), ("paris-local", "weather"), ("paris", "local-weather")];
    let (backends, mut servers) = (Backends::new(), Vec::new());
    for (server, tool) in pairs {
        let answer = json!({ "content": [{ "type": "text", "text": format!("{tool} of {server}") }] });
        let call = format!("call_{tool}");
        let responses = [("tools_list", tools(&[tool])), (&*call, answer.to_string().into_bytes())];
        let raw = raw(Way::Json, responses).await;
        backends.register(configured(server, &raw.url, &json!({}))).unwrap();
        servers.push(raw);
    }
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    let mut client = Client::connect(&server, EACH_CLIENT[0], json!({})).await;
    let listed = client.send_unchecked("tools/list", &json!({})).await;
    let mut answers = Vec::new();
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let response = in_the_end(client.call(name, json!({}), |_| unreachable!("no question"))).await;
        answers.push(response["result"]["content"][0]["text"].as_str().unwrap().to_owned());
    }
    answers.sort();
    let expected = ["_status of acme", "local-weather of paris", "status of acme_", "weather of paris-local"];
    assert_eq!(answers, expected, "{listed}");
    let response = in_the_end(client.call("acme__status", json!({}), |_| unreachable!("no question"))).await;
    let text = response["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("several tools could have the name `acme__status`; call `acme__status_"), "{text}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_through_a_proxy_is_one_request() {
    let answer = json!({ "content": [{ "type": "text", "text": "done" }] }).to_string().into_bytes();
    let server = raw(Way::Json, [("tools_list", tools(&["a"])), ("call_a", answer)]).await;
    let proxy = proxied(&server.backend).await;
    server.requests.lock().unwrap().clear();
    let mut client = Client::connect(&proxy, EACH_CLIENT[0], json!({})).await;
    for _ in 0..20 {
        in_the_end(client.call("peer_a", json!({}), |_| unreachable!("no question"))).await;
    }
    let requests = server.requests.lock().unwrap();
    let calls = requests.iter().filter(|request| request["method"] == "tools/call");
    assert_eq!((calls.count(), requests.len()), (20, 20), "{requests:?}");
}

/// A server that knows each session until the first call in it.
#[derive(Clone, Default)]
struct Forgetful {
    n_sessions: Arc<AtomicUsize>,
    known: Arc<Mutex<Option<String>>>,
}

async fn forgetful(State(server): State<Forgetful>, headers: axum::http::HeaderMap, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let response = |status: StatusCode, body: Value| {
        (status, [("content-type", "application/json")], body.to_string()).into_response()
    };
    let result =
        |result: Value| response(StatusCode::OK, json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }));
    let unknown_session = || {
        let error = json!({ "code": -32600, "message": "Session not found" });
        response(StatusCode::NOT_FOUND, json!({ "jsonrpc": "2.0", "id": "server-error", "error": error }))
    };
    let session = headers.get("mcp-session-id").map(|session| session.to_str().unwrap().to_owned());
    if message["method"] == "initialize" {
        let session = format!("s{}", server.n_sessions.fetch_add(1, Ordering::Relaxed));
        *server.known.lock().unwrap() = Some(session.clone());
        let initialized = json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "forgetful", "version": "1" },
        });
        let mut response = result(initialized);
        response.headers_mut().insert("mcp-session-id", session.parse().unwrap());
        return response;
    }
    if session.is_none() || *server.known.lock().unwrap() != session {
        return unknown_session();
    }
    match message["method"].as_str().unwrap() {
        "tools/list" => result(json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] })),
        "tools/call" => {
            *server.known.lock().unwrap() = None;
            unknown_session()
        }
        _ => StatusCode::ACCEPTED.into_response(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_loses_each_new_session_causes_no_endless_initialization() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = Forgetful::default();
    let router = Router::new().route("/mcp", post(forgetful)).with_state(server.clone());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let dispatcher = dispatcher(&configured("peer", &url, &json!({ "timeout": "20s" }))).await;
    let error = in_the_end(dispatcher.call("peer:a", json!({}))).await.unwrap_err();
    assert_ne!(error.kind(), ErrorKind::TimedOut, "{error}");
    assert!(error.message().ends_with("responded with status 404: Session not found"), "{error}");
    assert!(server.n_sessions.load(Ordering::Relaxed) <= 3);
}
