//! Clients without tasks, which call tools that require them through a proxy.

use std::future::pending;

use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{Endpoint, McpBackend};
use toolkit_mcp_server::{Proxy, Server};
use tower::ServiceExt;

use super::scripted::{ERAS, Era, Reply, Scripted};
use super::{built, completed, created, in_the_end, working};

async fn building(era: Era) -> Scripted {
    let mut n_polls = 0;
    Scripted::start(era, move |method, _| match method {
        "tools/call" => created(era, json!({})),
        "tasks/get" => {
            n_polls += 1;
            if n_polls % 2 == 0 { completed(era, built()) } else { working(era) }
        }
        _ => Reply::Result(built()),
    })
    .await
}

pub async fn proxy(backend: McpBackend) -> Server {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    server
}

/// Sends a request of this era to a server, from a client that declares nothing.
pub async fn response(server: &Server, era: Era, method: &str, mut params: Value) -> Value {
    let mut request = Request::post("http://127.0.0.1/mcp")
        .header("host", "127.0.0.1")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    let revision = if era == Era::Legacy { "2025-11-25" } else { "2026-07-28" };
    request = request.header("mcp-protocol-version", revision);
    if era == Era::Modern {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": revision,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        request = request.header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            request = request.header("mcp-name", name);
        }
    }
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let request = request.body(Body::from(message.to_string())).unwrap();
    let response = server.http().into_service().oneshot(request).await.unwrap();
    let bytes = in_the_end(response.into_body().collect()).await.unwrap().to_bytes();
    serde_json::from_slice(&bytes).unwrap()
}

#[tokio::test]
async fn a_client_without_tasks_calls_a_tool_that_requires_them() {
    for era in ERAS {
        let upstream = building(era).await;
        let server = proxy(upstream.backend()).await;
        for client in ERAS {
            let listed = response(&server, client, "tools/list", json!({})).await;
            let [tool] = &listed["result"]["tools"].as_array().unwrap()[..] else { panic!("{listed}") };
            assert_ne!(tool["execution"]["taskSupport"], "required", "{listed}");
            let called =
                response(&server, client, "tools/call", json!({ "name": tool["name"], "arguments": {} })).await;
            assert_eq!(called["result"]["content"][0]["text"], "built", "{era:?} to {client:?}: {called}");
        }
        assert_eq!(upstream.seen("tools/call").len(), 2);
    }
}

#[tokio::test]
async fn a_task_passes_two_proxies() {
    for era in ERAS {
        let upstream = building(era).await;
        let inner = proxy(upstream.backend()).await;
        let listening = inner.http().bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listening.local_addr().unwrap());
        tokio::spawn(listening.run(pending()));
        let outer = proxy(McpBackend::http("inner", Endpoint::new(&url).unwrap())).await;
        let params = json!({ "name": "inner_up_build", "arguments": {} });
        let called = response(&outer, era, "tools/call", params).await;
        assert_eq!(called["result"]["content"][0]["text"], "built", "{called}");
    }
}
