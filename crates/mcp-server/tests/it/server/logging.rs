//! Log messages of tools, for clients that request them.

use toolkit::call::LogLevel;
use toolkit::{Context, Tool, ToolError};
use toolkit_backends::{Backends, LocalBackend};

use super::changes::session;
use super::pipes::Pipes;
use super::*;

/// A server with a tool that logs at each level `times` times, and a text of `size` bytes.
async fn server() -> Server {
    let plugins = LocalBackend::new("plugins");
    let tool = Tool::builder("work").namespace("log").description("Works.").input(json!({ "type": "object" }));
    let tool = tool.build().unwrap();
    plugins.add(tool, |arguments: Value, ctx: Context| async move {
        for _ in 0..arguments["times"].as_u64().unwrap_or(1) {
            for level in LogLevel::ALL {
                ctx.log(level, json!({ "working": true }));
            }
        }
        if let Some(size) = arguments["size"].as_u64() {
            ctx.log(LogLevel::Emergency, "x".repeat(usize::try_from(size).unwrap()));
        }
        Ok::<_, ToolError>(json!("worked"))
    });
    let backends = Backends::new();
    backends.register(plugins).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    Server::new(dispatcher).unwrap()
}

fn work(id: u64, level: Option<&str>, arguments: Value) -> Value {
    let mut message = modern(id, "tools/call", call("log_work", arguments));
    if let Some(level) = level {
        message["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = level.into();
    }
    message
}

/// Returns the levels of the log notifications, which precede the response.
#[track_caller]
fn levels(messages: &[Value]) -> Vec<&str> {
    let (last, before) = messages.split_last().unwrap();
    assert_eq!(last["result"]["content"][0]["text"], "worked", "{last}");
    let level = |message: &Value| message["params"]["level"].as_str().map(|level| (level.to_owned(), message.clone()));
    for (_, message) in before.iter().filter_map(level) {
        assert_eq!(
            (&message["method"], &message["params"]["logger"]),
            (&"notifications/message".into(), &"log:work".into())
        );
    }
    before.iter().map(|message| message["params"]["level"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_request_without_a_level_receives_no_log() {
    let client = Client::of(serve(server().await.http()).await);
    for message in [work(1, None, json!({})), request(1, "tools/call", call("log_work", json!({})))] {
        let response = client.send(&message).await;
        assert_eq!(response.header("content-type"), Some("application/json"));
        assert_eq!(response.result()["content"][0]["text"], "worked");
    }
}

#[tokio::test]
async fn a_request_with_a_level_receives_messages_of_that_level_and_above() {
    let client = Client::of(serve(server().await.http()).await);
    let messages = client.send(&work(1, Some("error"), json!({}))).await.messages();
    assert_eq!(levels(&messages), ["error", "critical", "alert", "emergency"]);
    assert_eq!(messages[0]["params"]["data"], json!({ "working": true }));
    assert_eq!(levels(&client.send(&work(1, Some("debug"), json!({}))).await.messages()).len(), 8);
    for wrong in ["loud", "ERROR", ""] {
        let response = client.send(&work(1, Some(wrong), json!({}))).await;
        assert_eq!(response.code(), -32602);
        assert!(response.text().contains("`debug`, `info`"), "{}", response.text());
    }
    assert_eq!(client.send(&modern(1, "logging/setLevel", json!({ "level": "info" }))).await.code(), -32601);
}

#[tokio::test]
async fn the_level_of_a_session_applies_to_its_calls_until_it_ends() {
    let client = Client::of(serve(server().await.http()).await);
    let (listener, other) = (session(&client).await, session(&client).await);
    let set = |level: &str| request(2, "logging/setLevel", json!({ "level": level }));
    let message = request(3, "tools/call", call("log_work", json!({})));
    assert_eq!(listener.send(&set("alert")).await.result(), json!({}));
    assert_eq!(levels(&listener.send(&message).await.messages()), ["alert", "emergency"]);
    for silent in [&other, &client] {
        assert!(levels(&silent.send(&message).await.messages()).is_empty());
    }
    assert_eq!(listener.send(&set("emergency")).await.result(), json!({}));
    assert_eq!(levels(&listener.send(&message).await.messages()), ["emergency"]);
    for wrong in [json!({}), json!({ "level": 7 }), json!({ "level": "loud" })] {
        assert_eq!(listener.send(&request(4, "logging/setLevel", wrong)).await.code(), -32602);
    }
    assert_eq!(listener.ask("DELETE", "/mcp", b"").await.status, 204);
    assert_eq!(listener.send(&message).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_level_of_a_pipe_applies_to_its_calls() {
    let server = server().await;
    let ((mut pipe, _first), (mut other, _second)) = (Pipes::of(server.clone()), Pipes::of(server));
    let message = request(2, "tools/call", call("log_work", json!({})));
    assert_eq!(pipe.ask(&message)["id"], 2);
    assert_eq!(pipe.ask(&request(1, "logging/setLevel", json!({ "level": "emergency" })))["result"], json!({}));
    let logged = pipe.ask(&message);
    assert_eq!((&logged["method"], &logged["params"]["level"]), (&json!("notifications/message"), &json!("emergency")));
    assert_eq!(pipe.read()["id"], 2);
    assert_eq!(other.ask(&message)["id"], 2);
}

#[tokio::test]
async fn the_log_of_a_call_is_bounded() {
    let client = Client::of(serve(server().await.http()).await);
    let messages = client.send(&work(1, Some("debug"), json!({ "times": 10_000 }))).await.messages();
    let n_logged = levels(&messages).len();
    assert!((8..8_000).contains(&n_logged), "{n_logged}");
    let messages = client.send(&work(1, Some("emergency"), json!({ "times": 0, "size": 100_000 }))).await.messages();
    assert_eq!(messages[0]["params"]["data"], "a log message of 100002 bytes is omitted");
    let messages = client.send(&work(1, Some("emergency"), json!({ "times": 0, "size": 100 }))).await.messages();
    assert_eq!(messages[0]["params"]["data"], "x".repeat(100));
}
