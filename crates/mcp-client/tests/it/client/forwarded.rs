//! Results pass through a proxy as the server sent them.

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY as EACH_CLIENT, Era};
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::McpBackend;
use toolkit_mcp_server::{Proxy, Server};

use super::raw::{EACH_WAY, Raw, Way, raw};
use super::{dispatcher, in_the_end};

/// A server with the tools of another one.
pub(super) async fn proxied(backend: &McpBackend) -> Server {
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    let left_out = in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    assert!(left_out.is_empty(), "{left_out}");
    server
}

/// A server whose tools `t0`, `t1`, … return these results. Those with a structured result of `{"sum": …}` have an output
/// schema.
async fn returning(way: Way, results: &[Value]) -> Raw {
    let tool = |(n, result): (usize, &Value)| {
        let mut tool = json!({ "name": format!("t{n}"), "inputSchema": { "type": "object" } });
        if result.pointer("/structuredContent/sum").is_some() {
            tool["outputSchema"] = json!({ "type": "object", "properties": { "sum": { "type": "number" } } });
        }
        tool
    };
    let list = json!({ "tools": results.iter().enumerate().map(tool).collect::<Vec<_>>() });
    let calls: Vec<(String, Vec<u8>)> =
        results.iter().enumerate().map(|(n, result)| (format!("call_t{n}"), result.to_string().into_bytes())).collect();
    let responses = calls.iter().map(|(name, result)| (&**name, result.clone()));
    raw(way, responses.chain([("tools_list", list.to_string().into_bytes())])).await
}

/// Calls `t{n}` of the server behind the proxy. Returns the result without the fields that the proxy adds.
async fn through_proxy(client: &mut Client, n: usize) -> Value {
    let response = client.call(&format!("peer_t{n}"), json!({}), |_| unreachable!("no question")).await;
    let mut result = response["result"].clone();
    let fields = result.as_object_mut().unwrap();
    fields.shift_remove("resultType");
    if let Some(Value::Object(meta)) = fields.get_mut("_meta") {
        let added = meta.shift_remove("io.modelcontextprotocol/serverInfo").is_some()
            | meta.shift_remove("rs.toolkit/error").is_some();
        if added && meta.is_empty() {
            fields.shift_remove("_meta");
        }
    }
    result
}

fn results() -> Vec<Value> {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let noted = json!({
        "type": "text", "text": "hi", "annotations": { "audience": ["user"], "priority": 0.5 }, "_meta": { "a/b": [1] },
    });
    let image = json!({ "type": "image", "data": "AA==", "mimeType": "image/png", "annotations": { "priority": 1.0 } });
    let audio = json!({ "type": "audio", "data": "AA==", "mimeType": "audio/wav", "_meta": { "x": null } });
    let link = json!({
        "type": "resource_link", "uri": "https://example.com/a", "name": "a", "title": "A", "description": "The A.",
        "mimeType": "text/plain", "size": 7, "annotations": { "lastModified": "2026-01-01T00:00:00Z" },
        "icons": [{ "src": "https://example.com/i.png" }], "_meta": { "k": "v" },
    });
    let embedded = json!({
        "type": "resource", "resource": { "uri": "https://example.com/b", "blob": "AA==", "_meta": { "m": 1 } },
        "annotations": { "priority": 0.0 },
    });
    vec![
        json!({ "content": [noted, image, audio, link, embedded] }),
        json!({ "content": [text("1")], "structuredContent": { "rows": [{ "id": 1, "name": null }], "é": "\u{1f600}" } }),
        json!({ "content": [text("1")], "structuredContent": {}, "_meta": { "com.example/view": { "state": [1, 2.5] } } }),
        json!({ "content": [text("3")], "structuredContent": { "sum": 3 }, "isError": false }),
        json!({ "content": [text("3")], "isError": false, "com.example/extra": { "a": 1 } }),
        json!({ "content": [text("a"), image, text("b"), noted], "isError": true }),
        json!({
            "content": [text("quota")], "isError": true, "structuredContent": { "code": "quota", "left": 0 },
            "_meta": { "com.example/retry": true, "rs.toolkit/chart": [1] }, "x-extra": 1,
        }),
        json!({ "content": [text("3")], "structuredContent": { "sum": "not a number" }, "isError": true }),
        json!({ "content": [] }),
        json!({ "content": [text("")], "_meta": { "ui": { "data": { "rows": [1, 2, 3] } } }, "structuredContent": { "a": {} } }),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proxied_result_equals_the_direct_one() {
    for way in EACH_WAY {
        let server = returning(way, &results()).await;
        let direct = dispatcher(&server.backend).await;
        let proxy = proxied(&server.backend).await;
        for client_way in EACH_CLIENT {
            let mut client = Client::connect(&proxy, client_way, json!({})).await;
            for (n, sent) in results().into_iter().enumerate() {
                let outcome = in_the_end(direct.call(&format!("peer:t{n}"), "{}")).await;
                let received = match &outcome {
                    Ok(result) => result.mcp_result(),
                    Err(error) => error.mcp_result(),
                };
                assert_eq!(json!(received), sent, "{way:?}");
                assert_eq!(through_proxy(&mut client, n).await, sent, "{way:?}, {client_way:?}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_differences_of_a_proxied_result_are_those_that_are_documented() {
    let text = |text: &str| json!({ "type": "text", "text": text });
    let ui =
        |uri: &str| json!([{ "type": "resource", "resource": { "uri": uri, "mimeType": "text/html", "text": "" } }]);
    let page = |uri: &str| {
        let other = json!("ui://chart");
        json!({ "ui": { "resourceUri": uri, "a": other }, "ui/resourceUri": uri, "openai/outputTemplate": uri, "a": other })
    };
    let link = |uri: &str| json!([{ "type": "resource_link", "uri": uri, "name": "a" }]);
    let related = json!({ "io.modelcontextprotocol/related-task": { "taskId": "7" }, "a/b": 1 });
    let both = |received: Value| [received.clone(), received];
    // What the server sends, and what clients receive: before 2026-07-28, and since then.
    let table = [
        // Clients that read only `content` would show nothing.
        (
            json!({ "content": [], "structuredContent": { "a": 1 } }),
            both(json!({ "content": [text("{\"a\":1}")], "structuredContent": { "a": 1 } })),
        ),
        // The same for an error.
        (
            json!({ "content": [], "isError": true, "structuredContent": { "a": 1 } }),
            both(json!({
                "content": [text("peer:t1: the tool failed without a message")],
                "isError": true,
                "structuredContent": { "a": 1 },
            })),
        ),
        // Earlier revisions require an object.
        (
            json!({ "content": [text("7")], "structuredContent": 7 }),
            [
                json!({ "content": [text("7")], "structuredContent": { "result": 7 } }),
                json!({ "content": [text("7")], "structuredContent": 7 }),
            ],
        ),
        // The task is one of the connection to the server.
        (
            json!({ "content": [text("7")], "_meta": related }),
            both(json!({ "content": [text("7")], "_meta": { "a/b": 1 } })),
        ),
        // The proxy serves the resources under other URIs.
        (json!({ "content": link("x:a") }), both(json!({ "content": link("proxy:peer/x:a") }))),
        (
            json!({ "content": ui("ui://chart"), "isError": true }),
            both(json!({ "content": ui("ui://proxy/peer/chart"), "isError": true })),
        ),
        (json!({ "_meta": page("ui://chart"), "content": link("x:a") }), {
            both(json!({ "_meta": page("ui://proxy/peer/chart"), "content": link("proxy:peer/x:a") }))
        }),
    ];
    let sent: Vec<Value> = table.iter().map(|(sent, _)| sent.clone()).collect();
    let server = returning(Way::Stdio, &sent).await;
    let proxy = proxied(&server.backend).await;
    for client_way in EACH_CLIENT {
        let mut client = Client::connect(&proxy, client_way, json!({})).await;
        for (n, (_, [legacy, modern])) in table.iter().enumerate() {
            let expected = if client_way.0 == Era::Legacy { legacy } else { modern };
            assert_eq!(&through_proxy(&mut client, n).await, expected, "{client_way:?}");
        }
    }
}
