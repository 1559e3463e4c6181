//! Lists that a server splits into pages.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::in_the_end;

/// A server whose cursors are the numbers of its pages.
#[derive(Clone)]
struct Pages {
    pages: Arc<[Value]>,
    /// The cursors that it has received.
    cursors: Arc<Mutex<Vec<Value>>>,
}

impl Pages {
    async fn start(pages: impl IntoIterator<Item = Value>) -> (Self, McpBackend) {
        let server = Self { pages: pages.into_iter().collect(), cursors: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint::new(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
        let router = Router::new().route("/mcp", post(answer)).with_state(server.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (server, McpBackend::http("peer", endpoint))
    }
}

async fn answer(State(server): State<Pages>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let respond = |field: &str, value: Value| {
        let response = json!({ "jsonrpc": "2.0", "id": message["id"], field: value });
        ([(header::CONTENT_TYPE, "application/json")], response.to_string()).into_response()
    };
    if message.get("id").is_none() {
        return StatusCode::ACCEPTED.into_response();
    }
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "pages", "version": "1" },
        }),
        "tools/list" => {
            let cursor = &message["params"]["cursor"];
            server.cursors.lock().unwrap().push(cursor.clone());
            server.pages[cursor.as_str().map_or(0, |cursor| cursor.parse().unwrap())].clone()
        }
        _ => return respond("error", json!({ "code": -32601, "message": "no such method" })),
    };
    respond("result", result)
}

/// Returns a page with these tools and other fields.
fn page(tools: &[&str], others: &Value) -> Value {
    let tools: Vec<Value> = tools.iter().map(|name| json!({ "name": name, "inputSchema": {} })).collect();
    let mut page = json!({ "tools": tools });
    page.as_object_mut().unwrap().extend(others.as_object().unwrap().clone());
    page
}

#[tokio::test]
async fn the_least_time_and_the_most_private_scope_of_all_pages_count() {
    let (_, backend) = Pages::start([
        page(&["a"], &json!({ "nextCursor": "1", "ttlMs": 5_000, "cacheScope": "private" })),
        page(&["b"], &json!({ "nextCursor": "2", "ttlMs": 1_000, "cacheScope": "public" })),
        page(&["c"], &json!({ "ttlMs": 2_000 })),
    ])
    .await;
    let offers = in_the_end(backend.tools()).await.unwrap();
    assert_eq!((offers.tools.len(), offers.list_ttl, offers.is_private), (3, Some(Duration::from_secs(1)), true));
}

#[tokio::test]
async fn cursors_are_sent_back_until_the_first_that_is_empty_or_repeated() {
    for (last, expected) in [(json!(""), json!([null, "1", "2"])), (json!("1"), json!([null, "1", "2"]))] {
        let (server, backend) = Pages::start([
            page(&["a"], &json!({ "nextCursor": "1" })),
            page(&["b"], &json!({ "nextCursor": "2" })),
            page(&["c"], &json!({ "nextCursor": last })),
        ])
        .await;
        assert_eq!(in_the_end(backend.tools()).await.unwrap().tools.len(), 3, "{last}");
        assert_eq!(json!(*server.cursors.lock().unwrap()), expected, "{last}");
    }
}

#[tokio::test]
async fn the_limit_of_tools_is_that_of_all_pages() {
    for (second, is_within) in [(&["c"][..], true), (&["c", "d"], false)] {
        let pages = [page(&["a", "b"], &json!({ "nextCursor": "1" })), page(second, &json!({}))];
        let (_, backend) = Pages::start(pages).await;
        match in_the_end(backend.max_tools(3).tools()).await {
            Ok(offers) => assert!(is_within && offers.tools.len() == 3, "{second:?}"),
            Err(error) => {
                assert_eq!(error.message(), "the MCP server `peer` lists more than 3 tools");
                assert!(!is_within, "{second:?}");
            }
        }
    }
}

#[tokio::test]
async fn a_later_page_without_a_list_is_an_error() {
    let (_, backend) = Pages::start([page(&["a"], &json!({ "nextCursor": "1" })), json!({})]).await;
    let error = in_the_end(backend.tools()).await.unwrap_err();
    assert_eq!(error.message(), "the MCP server `peer` responded to `tools/list` without a list of tools");
}
