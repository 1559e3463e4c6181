//! Unknown fields arrive over both transports.

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use serde_json::{Value, json};
use test_support::program;
use toolkit::catalog::Naming;
use toolkit::mcp::{Revision, list_tools};
use toolkit_mcp_client::{Endpoint, McpBackend, Program};

use super::{collected, in_the_end};

/// A tool with all fields, and unknown ones.
fn rich() -> Value {
    json!({
        "name": "rich",
        "title": "Rich",
        "description": "Has much to say.",
        "inputSchema": { "type": "object", "properties": {}, "x-in-schema": { "a": [1] } },
        "outputSchema": { "type": "object" },
        "annotations": { "title": "Rich", "readOnlyHint": true, "x-cost": 7 },
        "icons": [{ "src": "https://example.com/i.png", "mimeType": "image/png", "x-dark": true }],
        "execution": { "taskSupport": "optional", "x-queue": "slow" },
        "_meta": { "com.example/owner": { "team": "search" } },
        "x-vendor": [null, 1.5, "text"],
    })
}

/// A tool with icons of another type.
fn odd() -> Value {
    json!({ "name": "odd", "inputSchema": { "type": "object" }, "icons": "none", "annotations": { "readOnlyHint": true } })
}

/// The results of a server, with known and unknown fields.
#[derive(Clone, Copy)]
enum Says {
    More,
    Strange,
}

fn tools(says: Says) -> Value {
    match says {
        Says::More => json!([rich()]),
        Says::Strange => json!([rich(), odd(), { "name": "unsound", "inputSchema": { "type": "objekt" } }]),
    }
}

fn result(says: Says) -> Value {
    let strange = match says {
        Says::More => json!({ "type": "text", "text": "there" }),
        Says::Strange => json!({ "type": "hologram", "x": 1 }),
    };
    json!({
        "content": [{ "type": "text", "text": "hi", "x-lang": "en" }, strange],
        "structuredContent": { "a": 1 },
        "_meta": { "com.example/took": 12 },
        "x-result": { "b": [2] },
    })
}

/// The kind of a server's responses: JSON or events.
#[derive(Clone, Copy)]
enum Manner {
    Json,
    Events,
}

async fn answer(State((manner, says)): State<(Manner, Says)>, body: Bytes) -> Response {
    let message: Value = serde_json::from_slice(&body).unwrap();
    let result = match message["method"].as_str().unwrap_or_default() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "rich", "version": "1" },
        }),
        "tools/list" => json!({ "tools": tools(says), "x-list": true }),
        "tools/call" => result(says),
        _ if message.get("id").is_none() => return StatusCode::ACCEPTED.into_response(),
        _ => {
            let error = json!({ "code": -32601, "message": "no such method" });
            return in_json(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error }));
        }
    };
    let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    match manner {
        Manner::Json => in_json(&answer),
        Manner::Events => {
            let events = format!(": hello\r\n\r\nevent: message\r\ndata: {answer}\r\n\r\n");
            ([(header::CONTENT_TYPE, "text/event-stream")], events).into_response()
        }
    }
}

fn in_json(message: &Value) -> Response {
    ([(header::CONTENT_TYPE, "application/json")], message.to_string()).into_response()
}

async fn over_http(manner: Manner, says: Says) -> McpBackend {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = Endpoint::new(&format!("http://{}/mcp", listener.local_addr().unwrap())).unwrap();
    let router = Router::new().route("/mcp", post(answer)).with_state((manner, says));
    tokio::spawn(async move { axum::serve(listener, router).await });
    McpBackend::http("peer", endpoint)
}

fn over_stdio(file: &std::path::Path, says: Says) -> McpBackend {
    std::fs::write(file, tools(says).to_string()).unwrap();
    McpBackend::stdio("peer", Program::new(program("fixture_peer")).arg("usual").arg(file))
}

/// Returns the tools of a server as a proxy lists them, and the diagnostics.
async fn listed(backend: &McpBackend) -> (Value, Vec<String>) {
    let collected = collected(backend).await;
    assert!(collected.failures.is_empty(), "{:?}", collected.failures);
    // The later revision has no `execution`.
    let list = list_tools(&collected.catalog, Revision::V2025_11_25, Naming::Name).unwrap();
    (list["tools"].clone(), collected.diagnostics.iter().map(ToString::to_string).collect())
}

#[tokio::test]
async fn a_list_has_all_of_its_fields_over_stdio_and_http() {
    let file = std::env::temp_dir().join(format!("toolkit-fields-{}.json", std::process::id()));
    for says in [Says::More, Says::Strange] {
        let (over_pipe, problems) = listed(&over_stdio(&file, says)).await;
        let tool = over_pipe.as_array().unwrap().iter().find(|tool| tool["name"] == "rich").unwrap();
        let rich = rich();
        for field in ["icons", "x-vendor", "inputSchema"] {
            assert_eq!(tool[field], rich[field], "{field}");
        }
        // Without untrusted annotations, and without tasks, which the server has not declared.
        assert_eq!(tool["annotations"], json!({ "title": "Rich", "x-cost": 7 }));
        assert_eq!(tool["execution"], json!({ "x-queue": "slow" }));
        assert_eq!(tool["_meta"]["com.example/owner"], rich["_meta"]["com.example/owner"]);
        let is_told = problems.iter().any(|problem| problem.contains("`odd` with invalid fields"));
        assert_eq!(is_told, matches!(says, Says::Strange), "{problems:?}");
        for manner in [Manner::Json, Manner::Events] {
            assert_eq!(listed(&over_http(manner, says).await).await, (over_pipe.clone(), problems.clone()));
        }
    }
    std::fs::remove_file(file).unwrap();
}

#[tokio::test]
async fn a_result_has_all_of_its_fields_over_http() {
    for (manner, says) in [
        (Manner::Json, Says::More),
        (Manner::Json, Says::Strange),
        (Manner::Events, Says::More),
        (Manner::Events, Says::Strange),
    ] {
        let dispatcher = dispatcher_of_sound(&over_http(manner, says).await).await;
        let called = in_the_end(dispatcher.call("peer:rich", json!({}))).await.unwrap();
        assert_eq!(Value::from(called.mcp_result().unwrap().clone()), result(says));
    }
}

/// Creates a dispatcher for the valid tools.
async fn dispatcher_of_sound(backend: &McpBackend) -> toolkit::Dispatcher {
    let collected = collected(backend).await;
    toolkit::Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}
