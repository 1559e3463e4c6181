//! The search tools that replace a long list.

use std::fmt::Debug;

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use super::*;

/// A subscriber that keeps the warnings of the server.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("toolkit_mcp_server") && *metadata.level() == Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        event.record(&mut Message(&self.0));
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

struct Message<'w>(&'w Mutex<Vec<String>>);

impl Visit for Message<'_> {
    fn record_debug(&mut self, _: &Field, value: &dyn Debug) {
        self.0.lock().unwrap().push(format!("{value:?}"));
    }
}

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
async fn the_result_of_a_found_tool_has_its_name_and_hints() {
    let client = Client::of(serve(many().http()).await);
    let described = asked(&client, "describe_tool", json!({ "name": "math_add" })).await;
    let hints = &described["structuredContent"]["annotations"];
    assert_eq!(hints["readOnlyHint"], true, "{described}");
    let called = json!({ "name": "math_add", "annotations": hints });
    for (arguments, is_error) in [(json!({ "a": 1, "b": 2 }), false), (json!({ "a": "x" }), true)] {
        for make in [request, modern] {
            let found = call("call_tool", json!({ "name": "math_add", "arguments": arguments }));
            let response = client.send(&make(1, "tools/call", found)).await;
            let result = response.result();
            assert_eq!((&result["_meta"]["rs.toolkit/calledTool"], &result["isError"]), (&called, &json!(is_error)));
            assert_eq!(response.text().matches("\"_meta\":").count(), 1, "{}", response.text());
            let direct = client.send(&make(1, "tools/call", call("math_add", arguments.clone()))).await.result();
            assert!(direct["_meta"].get("rs.toolkit/calledTool").is_none(), "{direct}");
        }
    }
}

#[tokio::test]
async fn the_tool_that_calls_any_tool_is_not_read_only() {
    let client = Client::of(serve(many().http()).await);
    let list = client.send(&modern(1, "tools/list", json!({}))).await.result();
    let hints = &list["tools"][0]["annotations"];
    assert_eq!(hints, &json!({ "readOnlyHint": false, "destructiveHint": true }), "{list}");
}

#[test]
fn the_log_and_the_status_say_that_clients_see_the_search_tools() {
    let warnings = Warnings::default();
    let (long, short) = tracing::subscriber::with_default(warnings.clone(), || {
        let short = Server::builder(dispatcher()).list_at_most(1000).build().unwrap();
        assert!(warnings.0.lock().unwrap().is_empty());
        (many(), short)
    });
    let lines = warnings.0.lock().unwrap().clone();
    assert_eq!(lines.len(), 1, "{lines:?}");
    let n_tools = long.status().n_tools;
    let expected = format!("in place of the {n_tools} tools, which are more than 3; a higher limit (`--list-at-most`");
    assert!(lines[0].contains(&expected), "{lines:?}");
    assert_eq!((long.status().lists_search_tools, short.status().lists_search_tools), (true, false));
    assert_eq!(serde_json::to_value(long.status()).unwrap()["list_at_most"], 3);
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
