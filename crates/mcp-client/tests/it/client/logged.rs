//! Log messages of servers reach the caller.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::client::{Client, EACH_WAY as EACH_CLIENT, Era};
use toolkit::Context;
use toolkit::call::LogLevel;
use toolkit_mcp_client::{Endpoint, McpBackend};

use super::forwarded::proxied;
use super::raw::{Raw, Way, raw, tools};
use super::{dispatcher, in_the_end};

/// A server whose tool `t` sends log messages before its response.
async fn logging(way: Way) -> Raw {
    let message = |params: Value| json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
    let mut messages = vec![
        message(json!({ "level": "debug", "data": "a detail" })),
        message(json!({ "level": "info", "logger": "db", "data": { "rows": 7 } })),
        message(json!({ "level": "odd", "data": 1 })),
        message(json!({ "data": 1 })),
        message(json!({ "level": "error", "data": "x".repeat(20_000) })),
        message(json!({ "level": "warning", "logger": format!("a\u{200b}{}", "b".repeat(200)), "data": [null] })),
    ];
    messages.extend((0..1_000).map(|n| message(json!({ "level": "notice", "data": n }))));
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let responses = [
        ("tools_list", tools(&["t", "hang"])),
        ("call_t.before", lines.into_bytes()),
        ("call_t", br#"{"content":[]}"#.to_vec()),
    ];
    raw(way, responses).await
}

/// The loggers and the data of the messages that a caller receives at the level `info`, except for those of the flood.
fn expected(server: &str) -> Vec<(String, Value)> {
    let named = |logger: &str| format!("{server}{logger}");
    vec![
        (named("/db"), json!({ "rows": 7 })),
        (named(""), json!("a log message of 20002 bytes is omitted")),
        (named(&format!("/a\\u{{200b}}{}", "b".repeat(126))), json!([null])),
    ]
}

#[tokio::test]
async fn log_messages_arrive_at_the_level_of_the_caller_and_are_bounded() {
    // Without events, there is no message before the response.
    for way in [Way::Stdio, Way::Events] {
        let server = logging(way).await;
        let dispatcher = dispatcher(&server.backend).await;
        let heard = Arc::new(Mutex::new(Vec::new()));
        let listener = Arc::clone(&heard);
        let context = Context::new().on_log(LogLevel::Info, move |message| {
            listener.lock().unwrap().push((message.level, message.logger.unwrap(), message.data));
        });
        in_the_end(dispatcher.call_with(&context, "peer:t", "{}")).await.unwrap();
        let heard = std::mem::take(&mut *heard.lock().unwrap());
        let levels: Vec<LogLevel> = heard[..3].iter().map(|(level, ..)| *level).collect();
        assert_eq!(levels, [LogLevel::Info, LogLevel::Error, LogLevel::Warning], "{way:?}");
        let first: Vec<(String, Value)> =
            heard[..3].iter().map(|(_, logger, data)| (logger.clone(), data.clone())).collect();
        assert_eq!(first, expected("peer"), "{way:?}");
        assert!(heard.len() >= 100 && heard.len() < 1_000, "{way:?}: {} messages", heard.len());
        if way == Way::Events {
            let requests = server.requests.lock().unwrap();
            let levels = requests.iter().filter(|request| request["method"] == "logging/setLevel");
            let levels: Vec<&Value> = levels.map(|request| &request["params"]["level"]).collect();
            assert_eq!(levels, ["info"]);
        }
    }
}

#[tokio::test]
async fn a_server_is_not_asked_for_log_messages_that_nothing_receives() {
    let server = logging(Way::Events).await;
    let dispatcher = dispatcher(&server.backend).await;
    in_the_end(dispatcher.call("peer:t", "{}")).await.unwrap();
    assert!(server.requests.lock().unwrap().iter().all(|request| request["method"] != "logging/setLevel"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_log_message_that_names_no_call_reaches_no_other_caller() {
    let server = logging(Way::Stdio).await;
    let dispatcher = dispatcher(&server.backend).await;
    let heard = Arc::new(Mutex::new(0));
    let listener = Arc::clone(&heard);
    let context = Context::new().on_log(LogLevel::Debug, move |_| *listener.lock().unwrap() += 1);
    let logged = async || {
        in_the_end(dispatcher.call_with(&context, "peer:t", "{}")).await.unwrap();
        std::mem::take(&mut *heard.lock().unwrap())
    };
    tokio::select! {
        biased;
        outcome = dispatcher.call("peer:hang", "{}") => panic!("{outcome:?}"),
        n_logged = logged() => assert_eq!(n_logged, 0, "the messages may be those of the other call"),
    }
    assert!(logged().await > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn log_messages_pass_through_several_programs() {
    for way in [Way::Stdio, Way::Events] {
        let server = logging(way).await;
        // This client talks to the first proxy in the later revision.
        let first = proxied(&server.backend).await;
        let listening = first.http().bind("127.0.0.1:0").await.unwrap();
        let endpoint = Endpoint::new(&format!("http://{}/mcp", listening.local_addr().unwrap())).unwrap();
        tokio::spawn(listening.run_until_signal());
        let second = proxied(&McpBackend::http("hop", endpoint)).await;
        for client_way in EACH_CLIENT {
            let mut client = Client::connect(&second, client_way, json!({})).await;
            let mut params = json!({ "name": "hop_peer_t", "arguments": {} });
            match client_way.0 {
                Era::Legacy => drop(client.send_unchecked("logging/setLevel", &json!({ "level": "info" })).await),
                Era::Modern => params["_meta"]["io.modelcontextprotocol/logLevel"] = json!("info"),
            }
            let mut messages = client.receive("tools/call", &params, |message| message.get("id").is_some()).await;
            assert!(messages.pop().unwrap().get("result").is_some());
            let heard = |message: &Value| {
                (message["params"]["logger"].as_str().unwrap().to_owned(), message["params"]["data"].clone())
            };
            let heard: Vec<(String, Value)> = messages.iter().map(heard).collect();
            let mut expected = expected("hop/peer");
            // Truncated again.
            expected.pop();
            assert_eq!(heard[..2], expected[..2], "{way:?}, {client_way:?}");
        }
    }
}
