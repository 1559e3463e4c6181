//! JSON-RPC batches, which revision 2025-03-26 requires a server to receive.

use super::pipes::Pipes;
use super::*;

const REVISION: &str = "2025-03-26";

fn notification() -> Value {
    json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })
}

fn batch() -> Value {
    let add = request(2, "tools/call", call("math_add", json!({ "a": 1, "b": 2 })));
    json!([request(1, "ping", json!({})), notification(), add, request(3, "nothing", json!({})), 7])
}

/// The response to [`batch`].
#[track_caller]
fn assert_answers(answers: &Value) {
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!([1, 2, 3, null]));
    assert_eq!(answers[1]["result"]["structuredContent"]["sum"], 3);
    assert_eq!(answers[2]["error"]["code"], -32601);
}

/// HTTP clients of this revision send no version header.
#[tokio::test]
async fn batches_are_accepted_in_one_revision_only() {
    let client = client().await;
    let batch = batch();
    for client in [client.clone(), client.with("mcp-protocol-version", "2025-03-26")] {
        assert_answers(&client.post(batch.to_string().as_bytes()).await.json());
        assert_eq!(client.post(json!([notification()]).to_string().as_bytes()).await.status, 202);
        for refused in [json!([]), Value::from(vec![request(1, "ping", json!({})); 65])] {
            let refused = client.post(refused.to_string().as_bytes()).await;
            assert_eq!((refused.status, refused.code()), (400, -32600));
        }
    }
    for version in ["2025-06-18", "2025-11-25", MODERN] {
        let refused = client.with("mcp-protocol-version", version).post(batch.to_string().as_bytes()).await;
        assert_eq!((refused.status, refused.code()), (400, -32600), "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batches_are_accepted_over_a_pipe_after_negotiation() {
    let (mut pipes, serving) = Pipes::of(server());
    let begin = |version: &str| request(0, "initialize", json!({ "protocolVersion": version }));
    for version in [None, Some(LEGACY), Some("2025-06-18")] {
        if let Some(version) = version {
            assert_eq!(pipes.ask(&begin(version))["result"]["protocolVersion"], version);
        }
        let refused = pipes.ask(&batch());
        assert_eq!((&refused["id"], &refused["error"]["code"]), (&Value::Null, &json!(-32600)), "{version:?}");
    }
    pipes.write(&begin(REVISION).to_string());
    assert_eq!(pipes.read()["result"]["protocolVersion"], REVISION);
    pipes.write(&batch().to_string());
    assert_answers(&pipes.read());
    for refused in [json!([]), Value::from(vec![request(1, "ping", json!({})); 65])] {
        pipes.write(&refused.to_string());
        assert_eq!(pipes.read()["error"]["code"], -32600);
    }
    // A batch without requests gets no response.
    pipes.write(&json!([notification()]).to_string());
    assert_eq!(pipes.ask(&request(5, "ping", json!({})))["id"], 5);
    pipes.close();
    serving.await.unwrap().unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_a_batch_delays_no_other_message_and_can_be_cancelled() {
    let (mut pipes, _serving) = Pipes::of(server());
    pipes.write(&request(0, "initialize", json!({ "protocolVersion": REVISION })).to_string());
    assert_eq!(pipes.read()["result"]["protocolVersion"], REVISION);
    let sleep = request(1, "tools/call", call("sleep", json!({ "ms": 3_600_000 })));
    pipes.write(&json!([sleep, request(2, "ping", json!({}))]).to_string());
    assert_eq!(pipes.ask(&request(3, "ping", json!({})))["id"], 3);
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 1 } });
    pipes.write(&json!([cancelled]).to_string());
    let answers = pipes.read();
    let ids: Vec<&Value> = answers.as_array().unwrap().iter().map(|answer| &answer["id"]).collect();
    assert_eq!(json!(ids), json!([2]), "a cancelled call is not answered");
}
