//! The parts of a result, for clients that want them.

use serde_json::{Value, json};
use toolkit::{Chunks, Context, Dispatcher, catalog, tool};
use toolkit_mcp_server::Server;

use crate::explorer::send;

/// Counts down, and reports its progress.
#[tool]
fn countdown(from: u8, ctx: &Context) -> Chunks<u8> {
    ctx.progress(0.0, f64::from(from), "starting");
    Chunks::from_items((1..=from).rev())
}

async fn messages(meta: Value) -> Vec<Value> {
    let service = Server::new(Dispatcher::new(catalog![countdown].unwrap()).unwrap()).unwrap().http().into_service();
    let body = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "countdown", "arguments": { "from": 3 }, "_meta": meta },
    });
    let headers = [("content-type", "application/json"), ("accept", "application/json, text/event-stream")];
    let text = send(&service, "POST", "/mcp", &headers, &body.to_string()).await.text().await;
    match text.starts_with('{') {
        true => vec![serde_json::from_str(&text).unwrap()],
        false => {
            let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
            data.map(|data| serde_json::from_str(data).unwrap()).collect()
        }
    }
}

#[tokio::test]
async fn chunks_are_progress_notifications_with_the_items_in_their_order() {
    let messages = messages(json!({ "progressToken": "t", "rs.toolkit/chunks": true })).await;
    let (result, notifications) = messages.split_last().unwrap();
    let chunks: Vec<&Value> =
        notifications.iter().filter_map(|message| message.pointer("/params/_meta/rs.toolkit~1chunk")).collect();
    assert_eq!(chunks, [&json!(3), &json!(2), &json!(1)]);
    let progress: Vec<f64> =
        notifications.iter().map(|message| message["params"]["progress"].as_f64().unwrap()).collect();
    assert!(progress.is_sorted_by(|a, b| a < b), "the protocol requires that progress increases: {progress:?}");
    assert!(notifications.iter().all(|message| message["params"]["progressToken"] == "t"));
    assert_eq!(result["result"]["structuredContent"], json!({ "result": [3, 2, 1] }));
}

#[tokio::test]
async fn chunks_are_sent_only_on_request_and_with_a_token() {
    for meta in [
        json!({ "progressToken": "t" }),
        json!({ "progressToken": "t", "rs.toolkit/chunks": "true" }),
        json!({ "rs.toolkit/chunks": true }),
    ] {
        let messages = messages(meta.clone()).await;
        assert!(!format!("{messages:?}").contains("rs.toolkit/chunk"), "{meta}");
        assert_eq!(messages.last().unwrap()["result"]["structuredContent"], json!({ "result": [3, 2, 1] }));
    }
}
