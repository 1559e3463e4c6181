//! Results that are longer than their tool declares.

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::{catalog, tool};

use super::*;

/// Returns numbered lines.
#[tool(namespace = "log", max_result = 1_000)]
fn lines(n: usize) -> String {
    (0..n).map(|n| format!("{n:09}\n")).collect()
}

#[derive(Serialize, JsonSchema)]
struct Rows {
    rows: Vec<u32>,
}

/// Returns rows.
#[tool(namespace = "log", max_result = 1_000, meta = { "com.example/source": "log" })]
fn rows(n: u32) -> Rows {
    Rows { rows: (0..n).collect() }
}

async fn logs() -> Client {
    let server = Server::builder(Dispatcher::new(catalog![lines, rows].unwrap()).unwrap()).build().unwrap();
    Client::of(serve(server.http()).await)
}

#[tokio::test]
async fn a_tool_lists_the_length_that_it_declares_for_its_result() {
    let tools = logs().await.send(&modern(1, "tools/list", json!({}))).await.result();
    for tool in tools["tools"].as_array().unwrap() {
        assert_eq!(tool["_meta"]["anthropic/maxResultSizeChars"], 1000);
    }
    assert_eq!(tools["tools"][1]["_meta"]["com.example/source"], "log");
}

#[tokio::test]
async fn a_longer_text_is_cut_and_says_so() {
    let client = logs().await;
    let whole = client.send(&modern(1, "tools/call", call("log_lines", json!({ "n": 100 })))).await.result();
    assert_eq!(whole["content"][0]["text"].as_str().unwrap().len(), 1000);

    let cut = client.send(&modern(2, "tools/call", call("log_lines", json!({ "n": 101 })))).await.result();
    let text = cut["content"][0]["text"].as_str().unwrap();
    assert!(text.starts_with("000000000\n"), "{text}");
    assert!(
        text.ends_with(
            "000000099\n\n[The result has 1010 characters; these are the first 999. Ask for a smaller part, if the tool has \
             arguments for that.]"
        ),
        "{text}"
    );
    assert_eq!(cut["isError"], false);
}

#[tokio::test]
async fn what_programs_read_is_never_cut() {
    let result = logs().await.send(&modern(1, "tools/call", call("log_rows", json!({ "n": 1000 })))).await.result();
    assert_eq!(result["structuredContent"]["rows"].as_array().unwrap().len(), 1000);
    let text = result["content"][0]["text"].as_str().unwrap();
    assert!(text.len() < 1200 && text.contains("[The result has "), "{text}");
}
