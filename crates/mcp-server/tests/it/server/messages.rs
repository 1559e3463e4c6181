//! The responses of each method, in both eras.

use super::*;

#[tokio::test]
async fn initialize_negotiates_the_revision() {
    let client = client().await;
    for (asked, answered) in [
        ("2025-11-25", "2025-11-25"),
        ("2025-06-18", "2025-06-18"),
        ("2025-03-26", "2025-03-26"),
        ("2024-11-05", "2024-11-05"),
        ("2026-07-28", "2025-11-25"),
        ("1.0", "2025-11-25"),
    ] {
        let params =
            json!({ "protocolVersion": asked, "capabilities": {}, "clientInfo": { "name": "t", "version": "1" } });
        let response = client.send(&request(1, "initialize", params)).await;
        assert_eq!(response.result()["protocolVersion"], answered);
        assert_eq!(response.result()["serverInfo"], json!({ "name": "tests", "version": "1.0.0" }));
        assert!(response.header("mcp-session-id").is_some_and(|name| name.len() == 50));
    }
}

#[tokio::test]
async fn discover_returns_capabilities_and_cache_hints() {
    let client = client().await;
    let result = client.send(&modern(1, "server/discover", json!({}))).await.result();
    assert_eq!(result["supportedVersions"][0], MODERN);
    assert_eq!(result["capabilities"], json!({ "tools": { "listChanged": true }, "logging": {} }));
    assert_eq!(result["ttlMs"], 3_600_000);
    assert_eq!(result["_meta"]["io.modelcontextprotocol/serverInfo"]["name"], "tests");
}

#[tokio::test]
async fn a_call_returns_data_and_text() {
    let client = client().await;
    let params = call("math_add", json!({ "a": 40, "b": 2 }));
    let legacy = client.send(&request(1, "tools/call", params.clone())).await.result();
    let modern = client.send(&modern(1, "tools/call", params)).await.result();
    for result in [&legacy, &modern] {
        assert_eq!(result["structuredContent"], json!({ "sum": 42 }));
        assert_eq!(result["content"], json!([{ "type": "text", "text": r#"{"sum":42}"# }]));
        assert_eq!(result["isError"], false);
    }
    assert_eq!(modern["resultType"], "complete");
    assert_eq!(modern["_meta"]["io.modelcontextprotocol/serverInfo"]["version"], "1.0.0");
    assert!(legacy.get("resultType").is_none());
}

#[tokio::test]
async fn a_result_that_is_not_an_object_is_wrapped_for_earlier_revisions() {
    let client = client().await;
    let params = call("math_half", json!({ "n": 3.0 }));
    let legacy = client.send(&request(1, "tools/call", params.clone())).await.result();
    assert_eq!(legacy["structuredContent"], json!({ "result": 1.5 }));
    let modern = client.send(&modern(1, "tools/call", params)).await.result();
    assert_eq!(modern["structuredContent"], json!(1.5));
}

#[tokio::test]
async fn every_kind_of_content_arrives() {
    let client = client().await;
    for request in
        [request(1, "tools/call", call("content", json!({}))), modern(1, "tools/call", call("content", json!({})))]
    {
        let result = client.send(&request).await.result();
        let kinds: Vec<&str> =
            result["content"].as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "image", "audio", "resource_link", "resource"]);
        assert!(result.get("structuredContent").is_none());
    }
}

#[tokio::test]
async fn bad_arguments_are_a_result_with_every_violation() {
    let client = client().await;
    for make in [request, modern] {
        let result = client.send(&make(1, "tools/call", call("math_add", json!({ "a": "x", "c": 1 })))).await.result();
        assert_eq!(result["isError"], true);
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(["/a", "/b", "/c"].iter().all(|place| text.contains(place)), "{text}");
    }
}

#[tokio::test]
async fn the_data_of_an_error_is_in_the_meta_of_its_result() {
    let client = client().await;
    for make in [request, modern] {
        let response = client.send(&make(1, "tools/call", call("math_add", json!({ "a": "x" })))).await;
        let meta = response.result()["_meta"].clone();
        assert_eq!(meta["rs.toolkit/error"]["kind"], "invalid_arguments");
        assert_eq!(meta["rs.toolkit/error"]["violations"][0]["pointer"], "/a");
        assert_eq!(response.text().matches("\"_meta\":").count(), 1, "{}", response.text());
        let is_modern = response.result().get("resultType").is_some();
        assert_eq!(meta.get("io.modelcontextprotocol/serverInfo").is_some(), is_modern);
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_with_a_suggestion() {
    let client = client().await;
    for make in [request, modern] {
        for typed in ["math_ad", "ad", "add"] {
            let response = client.send(&make(1, "tools/call", call(typed, json!({})))).await;
            assert_eq!((response.status, response.code()), (200, -32602));
            assert!(response.text().contains("did you mean `math_add`?"), "{typed}: {}", response.text());
        }
        let long = client.send(&make(1, "tools/call", call(&"\u{202e}x".repeat(10_000), json!({})))).await;
        assert!(long.body.len() < 2000, "a name is not repeated at length");
    }
}

#[tokio::test]
async fn only_errors_for_the_model_are_sent() {
    let client = client().await;
    for (name, says) in [("fail", "the disk is full"), ("fail_inside", "internal error"), ("panics", "internal error")]
    {
        let response = client.send(&modern(1, "tools/call", call(name, json!({})))).await;
        assert_eq!(response.result()["isError"], true);
        assert!(response.text().contains(says), "{}", response.text());
        assert!(!response.text().contains("hunter2"));
    }
}

#[tokio::test]
async fn requested_progress_precedes_the_result() {
    let client = client().await;
    for make in [request, modern] {
        let mut params = call("count", json!({}));
        let quiet = client.send(&make(1, "tools/call", params.clone())).await;
        assert_eq!(quiet.header("content-type"), Some("application/json"));

        params["_meta"] = json!({ "progressToken": 9_007_199_254_740_993_u64 });
        let told = client.send(&make(1, "tools/call", params.clone())).await;
        let messages = told.messages();
        let (last, progress) = messages.split_last().unwrap();
        let done: Vec<f64> = progress.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
        assert!(!done.is_empty() && done.is_sorted_by(|a, b| a < b), "{done:?}");
        assert_eq!(progress[0]["params"]["progressToken"], 9_007_199_254_740_993_u64);
        assert_eq!(progress[0]["params"]["total"], 3.0);
        assert!(last["result"]["isError"] == false, "{last}");
        assert_eq!(told.header("x-accel-buffering"), Some("no"));

        // Clients get only what they accept.
        for accepted in ["application/json", "application/json, text/event-stream;q=0.0", "text/event-streams, */*"] {
            let unread = client.with("accept", accepted).send(&make(1, "tools/call", params.clone())).await;
            assert_eq!(unread.header("content-type"), Some("application/json"), "{accepted}");
        }
        let named = client.with("accept", "TEXT/Event-Stream; q=0.9").send(&make(1, "tools/call", params)).await;
        assert_eq!(named.header("content-type"), Some("text/event-stream"));
    }
}

#[tokio::test]
async fn a_tool_sees_the_trace_and_the_client() {
    let client = client().await;
    let traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let mut params = call("who", json!({}));
    params["_meta"] = json!({
        "traceparent": traceparent,
        "io.modelcontextprotocol/clientInfo": { "name": "t", "version": "1" },
    });
    let result = client.send(&modern(1, "tools/call", params)).await.result();
    assert_eq!(result["structuredContent"]["traceparent"], traceparent);
    assert_eq!(result["structuredContent"]["client"]["name"], "t");
}

#[tokio::test]
async fn a_missing_client_capability_is_a_protocol_error() {
    let response = client().await.send(&modern(1, "tools/call", call("sample", json!({})))).await;
    assert_eq!((response.status, response.code()), (400, -32021));
    assert_eq!(response.json()["error"]["data"]["requiredCapabilities"], json!({ "sampling": {} }));
    let legacy = client().await.send(&request(1, "tools/call", call("sample", json!({})))).await;
    assert_eq!((legacy.status, legacy.code()), (200, -32021), "its clients do not read the error otherwise");
}

#[tokio::test]
async fn each_era_has_its_own_methods() {
    let client = client().await;
    assert_eq!(client.send(&request(1, "ping", json!({}))).await.result(), json!({}));
    for method in ["ping", "initialize", "logging/setLevel", "no/method"] {
        let response = client.send(&modern(1, method, json!({}))).await;
        assert_eq!((response.status, response.code()), (404, -32601), "{method}");
    }
    for method in ["subscriptions/listen", "prompts/list", "no/method"] {
        assert_eq!(client.send(&request(1, method, json!({}))).await.code(), -32601, "{method}");
    }
}

#[tokio::test]
async fn required_fields_of_modern_requests_are_checked() {
    let client = client().await.with("mcp-protocol-version", MODERN).with("mcp-method", "tools/list");
    for params in [
        json!({}),
        json!({ "_meta": {} }),
        json!({ "_meta": { "io.modelcontextprotocol/clientCapabilities": {} } }),
        json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": MODERN } }),
    ] {
        let response = client.post(request(7, "tools/list", params).to_string().as_bytes()).await;
        assert_eq!((response.status, response.code()), (400, -32602));
        assert_eq!(response.json()["id"], 7);
    }
}

#[tokio::test]
async fn an_unknown_revision_gets_the_list_of_supported_ones() {
    let client = client().await.with("mcp-protocol-version", "2030-01-01").with("mcp-method", "tools/list");
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2030-01-01", "io.modelcontextprotocol/clientCapabilities": {} });
    let response = client.post(request(1, "tools/list", json!({ "_meta": meta })).to_string().as_bytes()).await;
    assert_eq!((response.status, response.code()), (400, -32022));
    let data = &response.json()["error"]["data"];
    assert_eq!(data["requested"], "2030-01-01");
    assert_eq!(data["supported"][0], MODERN);
}

#[tokio::test]
async fn malformed_messages_are_rejected_without_an_echo() {
    let client = client().await.with("mcp-protocol-version", LEGACY);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let in_params = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"math_add","arguments":{deep}}}}}"#
    );
    for (body, code) in [
        ("{half", -32700),
        ("", -32700),
        (&*deep, -32600),
        ("[]", -32600),
        ("3", -32600),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":3}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1}"#, -32600),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}"#, -32602),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":3}}"#, -32602),
    ] {
        let response = client.post(body.as_bytes()).await;
        assert_eq!((response.status, response.code()), (400, code), "{}", &body[..body.len().min(80)]);
        assert!(response.body.len() < 500);
    }
    let response = client.post(in_params.as_bytes()).await;
    assert_eq!(response.result()["isError"], true, "arguments that are too deep are the tool's to refuse");
}

#[tokio::test]
async fn notifications_and_responses_get_no_response() {
    let client = client().await;
    for message in [
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
        json!({ "jsonrpc": "2.0", "method": "notifications/unheard_of", "params": {} }),
        json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    ] {
        let response = client.send(&message).await;
        assert_eq!((response.status, response.body.len()), (202, 0));
    }
}
