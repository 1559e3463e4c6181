//! HTTP headers must match the message.

use super::*;

#[tokio::test]
async fn a_header_that_differs_from_the_message_is_rejected() {
    let client = client().await;
    let add = modern(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 })));
    for (name, value) in [
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-method", "tools/list"),
        ("mcp-method", "TOOLS/CALL"),
        ("mcp-name", "math_half"),
        ("mcp-name", "=?base64?bWF0aF9oYWxm?="),
        ("mcp-name", "=?base64?!!!?="),
    ] {
        let response = client.with(name, value).send(&add).await;
        assert_eq!((response.status, response.code()), (400, -32020), "{name}: {value}");
    }
    assert_eq!(client.with("mcp-name", "=?base64?bWF0aF9hZGQ=?=").send(&add).await.status, 200);
    assert_eq!(client.with("mcp-name", "  math_add  ").send(&add).await.status, 200);
}

#[tokio::test]
async fn a_missing_header_is_rejected() {
    let client = client().await;
    let body = modern(1, "tools/call", call("math_add", json!({ "a": 1, "b": 2 }))).to_string();
    let all = client.with("mcp-protocol-version", MODERN).with("mcp-method", "tools/call").with("mcp-name", "math_add");
    assert_eq!(all.post(body.as_bytes()).await.status, 200);
    for name in ["mcp-protocol-version", "mcp-method", "mcp-name"] {
        let response = all.without(name).post(body.as_bytes()).await;
        assert_eq!((response.status, response.code()), (400, -32020), "{name}");
    }
}

#[tokio::test]
async fn a_request_for_a_task_need_not_repeat_the_id_in_a_header() {
    let client = client().await;
    let mut get = modern(1, "tasks/get", json!({ "taskId": "1" }));
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    get["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities;
    assert_eq!(client.send(&get).await.code(), -32602, "the task is unknown");
    assert_eq!(client.with("mcp-name", "1").send(&get).await.code(), -32602);
    let response = client.with("mcp-name", "2").send(&get).await;
    assert_eq!((response.status, response.code()), (400, -32020));
}

#[tokio::test]
async fn annotated_arguments_are_repeated_in_headers() {
    let client = client().await;
    let query = |arguments: Value| modern(1, "tools/call", call("query", arguments));
    let both = client.with("mcp-param-region", "eu").with("mcp-param-limit", "5.0");
    assert_eq!(both.send(&query(json!({ "region": "eu", "limit": 5 }))).await.status, 200);
    let encoded = client.with("mcp-param-region", "=?base64?WsO8cmljaA==?=");
    assert_eq!(encoded.send(&query(json!({ "region": "Zürich" }))).await.status, 200);
    for (client, arguments) in [
        (&both, json!({ "region": "us", "limit": 5 })),
        (&both, json!({ "region": "eu", "limit": 6 })),
        (&both, json!({ "region": "eu" })),
        (&client, json!({ "region": "eu" })),
        (&both.without("mcp-param-limit"), json!({ "region": "eu", "limit": 5 })),
    ] {
        let response = client.send(&query(arguments.clone())).await;
        assert_eq!((response.status, response.code()), (400, -32020), "{arguments}");
    }
    // Earlier revisions do not repeat arguments.
    let legacy = client.send(&request(1, "tools/call", call("query", json!({ "region": "eu" })))).await;
    assert_eq!(legacy.result()["isError"], false);
}

#[test]
fn a_tool_with_an_invalid_header_annotation_is_rejected() {
    for (property, expected) in [
        (json!({ "type": ["string", "null"], "x-mcp-header": "Region" }), "never `null`"),
        (json!({ "type": "number", "x-mcp-header": "Region" }), "an integer"),
        (json!({ "type": "string", "x-mcp-header": "not a token" }), "not a valid header name"),
        (json!({ "type": "string", "x-mcp-header": "" }), "not a valid header name"),
        (json!({ "type": "array", "items": { "type": "string", "x-mcp-header": "Region" } }), "`properties`"),
    ] {
        let schema = json!({ "type": "object", "properties": { "region": property } });
        let tool = toolkit::Tool::builder("query").description("Queries.").input(schema).build().unwrap();
        let dispatcher = Dispatcher::new(Catalog::new([tool]).unwrap()).unwrap();
        let error = Server::new(dispatcher).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}
