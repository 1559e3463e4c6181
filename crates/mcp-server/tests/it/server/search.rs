//! The search tools that replace a long list.

use super::*;

fn many() -> Server {
    Server::builder(dispatcher()).list_at_most(3).build().unwrap()
}

async fn asked(client: &Client, name: &str, arguments: Value) -> Value {
    client.send(&modern(1, "tools/call", call(name, arguments))).await.result()
}

#[tokio::test]
async fn a_long_list_is_replaced_by_three_search_tools() {
    let client = Client::of(serve(many().http()).await);
    for make in [request, modern] {
        let list = client.send(&make(1, "tools/list", json!({}))).await.result();
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["call_tool", "describe_tool", "search_tools"]);
    }
    let found = asked(&client, "search_tools", json!({ "query": "add integers" })).await;
    assert_eq!(found["structuredContent"]["tools"][0], json!({ "name": "math_add", "summary": "Adds two integers." }));

    let described = asked(&client, "describe_tool", json!({ "name": "math_add" })).await;
    assert_eq!(described["structuredContent"]["inputSchema"]["required"], json!(["a", "b"]));

    let called = asked(&client, "call_tool", json!({ "name": "math_add", "arguments": { "a": 1, "b": 2 } })).await;
    assert_eq!(called["structuredContent"], json!({ "sum": 3 }));
    let directly = asked(&client, "math_add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(directly["structuredContent"], json!({ "sum": 3 }));
}

#[tokio::test]
async fn the_search_tools_validate_their_arguments() {
    let client = Client::of(serve(many().http()).await);
    for (name, arguments, says) in [
        ("search_tools", json!({}), "query"),
        ("search_tools", json!({ "query": "x", "limit": 1000 }), "50"),
        ("describe_tool", json!({ "name": "ad" }), "did you mean `math_add`?"),
        ("call_tool", json!({ "name": "math_add", "arguments": { "a": "x" } }), "/b"),
        ("call_tool", json!({ "name": "math_add", "arguments": [1, 2] }), "arguments"),
    ] {
        let result = asked(&client, name, arguments).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains(says), "{result}");
    }
    let found = client.send(&modern(1, "tools/call", call("search_tools", json!({ "query": "add" })))).await;
    assert_eq!(found.text().matches("\"_meta\":").count(), 1, "{}", found.text());
    let unknown = client.send(&modern(1, "tools/call", call("call_tool", json!({ "name": "ad" })))).await;
    assert_eq!(unknown.code(), -32602);
}

#[tokio::test]
async fn a_host_can_replace_the_search() {
    let server = Server::builder(dispatcher()).list_at_most(0).search(|catalog, query, limit| {
        assert_eq!((query, limit > 0), ("anything", true));
        catalog.iter().map(|tool| tool.id().to_string()).filter(|id| id.starts_with("math:half")).collect()
    });
    let client = Client::of(serve(server.build().unwrap().http()).await);
    let found = asked(&client, "search_tools", json!({ "query": "anything" })).await;
    assert_eq!(found["structuredContent"]["tools"], json!([{ "name": "math_half", "summary": "Halves a number." }]));
}

#[tokio::test]
async fn a_short_list_has_no_search_tools() {
    let client = client().await;
    assert_eq!(
        client.send(&modern(1, "tools/call", call("search_tools", json!({ "query": "x" })))).await.code(),
        -32602
    );
}

#[tokio::test]
async fn search_results_have_only_the_fields_for_the_next_step() {
    let long = "Reads what there is to read, and then some more of it. ".repeat(20);
    let record = json!({
        "name": "read", "title": "Read!", "description": long, "tags": ["files"],
        "icons": [{ "src": "https://example.com/i.png" }], "annotations": { "readOnlyHint": true },
        "_meta": { "example.com/internal": "x".repeat(500) }, "examples": [{ "path": "a" }],
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
            "properties": { "path": { "type": "string" } }, "required": ["path"],
        },
    });
    let catalog = toolkit::Catalog::new([toolkit::Tool::from_json(record).unwrap()]).unwrap();
    let server = Server::builder(toolkit::Dispatcher::new(catalog).unwrap()).list_at_most(0).build().unwrap();
    let client = Client::of(serve(server.http()).await);

    let found = asked(&client, "search_tools", json!({ "query": "read" })).await;
    let text = found["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, found["structuredContent"].to_string());
    let tools = &found["structuredContent"];
    assert_eq!(tools["tools"].as_array().unwrap().len(), 1);
    assert_eq!(tools["tools"][0]["summary"].as_str().unwrap().chars().count(), 120);

    let described = asked(&client, "describe_tool", json!({ "name": "read" })).await;
    assert_eq!(
        described["structuredContent"],
        json!({
            "name": "read", "description": long, "annotations": { "readOnlyHint": true },
            "examples": [{ "path": "a" }],
            "inputSchema": {
                "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"],
            },
        })
    );
    for answer in [&found, &described] {
        let estimate = answer["_meta"]["rs.toolkit/estimatedTokens"].as_u64().unwrap();
        let len = answer["content"][0]["text"].as_str().unwrap().len() as u64;
        assert!((len / 6..=len / 2).contains(&estimate), "{estimate} of {len}");
    }

    let nothing = asked(&client, "search_tools", json!({ "query": "submarine" })).await;
    assert_eq!(nothing["isError"], false);
    assert!(nothing["structuredContent"]["note"].as_str().unwrap().contains("in other words"), "{nothing}");
}
