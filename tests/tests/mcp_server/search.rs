//! Three tools in place of many.

use super::*;

fn many() -> Server {
    Server::builder(dispatcher()).list_at_most(3).build().unwrap()
}

async fn asked(client: &Client, name: &str, arguments: Value) -> Value {
    client.send(&modern(1, "tools/call", call(name, arguments))).await.result()
}

#[tokio::test]
async fn a_long_list_is_three_tools_that_lead_to_all() {
    let client = Client::of(serve(many().http()).await);
    for make in [request, modern] {
        let list = client.send(&make(1, "tools/list", json!({}))).await.result();
        let names: Vec<&str> =
            list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
        assert_eq!(names, ["call_tool", "describe_tool", "search_tools"]);
    }
    let found = asked(&client, "search_tools", json!({ "query": "add integers" })).await;
    assert_eq!(found["structuredContent"]["tools"][0], json!({ "name": "add", "summary": "Adds two integers." }));

    let described = asked(&client, "describe_tool", json!({ "name": "add" })).await;
    assert_eq!(described["structuredContent"]["inputSchema"]["required"], json!(["a", "b"]));

    let called = asked(&client, "call_tool", json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })).await;
    assert_eq!(called["structuredContent"], json!({ "sum": 3 }));
    let directly = asked(&client, "add", json!({ "a": 1, "b": 2 })).await;
    assert_eq!(directly["structuredContent"], json!({ "sum": 3 }));
}

#[tokio::test]
async fn the_three_refuse_as_other_tools_do() {
    let client = Client::of(serve(many().http()).await);
    for (name, arguments, says) in [
        ("search_tools", json!({}), "query"),
        ("search_tools", json!({ "query": "x", "limit": 1000 }), "50"),
        ("describe_tool", json!({ "name": "ad" }), "did you mean `add`?"),
        ("call_tool", json!({ "name": "add", "arguments": { "a": "x" } }), "/b"),
        ("call_tool", json!({ "name": "add", "arguments": [1, 2] }), "arguments"),
    ] {
        let result = asked(&client, name, arguments).await;
        assert_eq!(result["isError"], true);
        assert!(result["content"][0]["text"].as_str().unwrap().contains(says), "{result}");
    }
    let unknown = client.send(&modern(1, "tools/call", call("call_tool", json!({ "name": "ad" })))).await;
    assert_eq!(unknown.code(), -32602);
}

#[tokio::test]
async fn a_host_may_search_by_other_means() {
    let server = Server::builder(dispatcher()).list_at_most(0).search(|catalog, query, limit| {
        assert_eq!((query, limit > 0), ("anything", true));
        catalog.iter().map(|tool| tool.id().to_string()).filter(|id| id.starts_with("math:half")).collect()
    });
    let client = Client::of(serve(server.build().unwrap().http()).await);
    let found = asked(&client, "search_tools", json!({ "query": "anything" })).await;
    assert_eq!(found["structuredContent"]["tools"], json!([{ "name": "half", "summary": "Halves a number." }]));
}

#[tokio::test]
async fn a_short_list_has_none_of_the_three() {
    let client = client().await;
    assert_eq!(
        client.send(&modern(1, "tools/call", call("search_tools", json!({ "query": "x" })))).await.code(),
        -32602
    );
}
