//! The record of calls.

use serde_json::json;
use toolkit::{Dispatcher, catalog};
use toolkit_explorer::{Explorer, RecentCalls};
use toolkit_mcp_server::Server;

use crate::explorer::{Users, call, events_of, get, http, server, service};

#[tokio::test]
async fn a_call_is_recorded_with_its_outcome_sizes_and_arguments() {
    let service = service();
    call(&service, None, "math_add", r#"{"a": 40, "b": 2}"#).await;
    call(&service, None, "math_add", r#"{"a": "x"}"#).await;
    call(&service, None, "door_sign_in", r#"{"user": "ann", "password": "guess"}"#).await;
    let events = get(&service, "/explorer/events").await.events().await;
    let shown: Vec<_> = events.iter().map(|event| (&event["tool"], &event["outcome"], &event["arguments"])).collect();
    assert_eq!(
        shown,
        [
            (&json!("math:add:1.0.0"), &json!("ok"), &json!(r#"{"a": 40, "b": 2}"#)),
            (&json!("math:add:1.0.0"), &json!("invalid_arguments"), &json!(r#"{"a": "x"}"#)),
            (&json!("door:sign_in:1.0.0"), &json!("failed"), &json!(r#"{"user":"ann","password":"…"}"#)),
        ]
    );
    assert_eq!((&events[0]["bytesIn"], &events[0]["bytesOut"]), (&json!(17), &json!(2)));
    assert!(events.iter().all(|event| event["duration"].is_u64() && event["startedAt"].is_u64()), "{events:?}");
}

#[tokio::test]
async fn calls_of_tools_that_the_server_of_the_caller_has_not_are_not_shown() {
    let (server, calls) = server();
    let service = server.http().route(Explorer::new("Tools").recent_calls(calls)).into_service();
    call(&service, None, "math_add", r#"{"a": 40, "b": 2}"#).await;
    assert_eq!(get(&service, "/explorer/events").await.events().await.len(), 1);
    server.replace(Dispatcher::new(catalog![].unwrap()).unwrap()).unwrap();
    assert!(get(&service, "/explorer/events").await.events().await.is_empty());
}

#[tokio::test]
async fn invalid_arguments_with_secrets_are_not_recorded() {
    let service = service();
    // The schema cannot locate the secret in these.
    for arguments in
        [r#"{"user": 1, "password": "hunter2"}"#, r#"{"password": ["hunter2"]}"#, r#"{"passphrase": "hunter2"}"#]
    {
        call(&service, None, "door_sign_in", arguments).await;
    }
    let events = get(&service, "/explorer/events").await.events().await;
    assert_eq!(events.len(), 3);
    assert!(!format!("{events:?}").contains("hunter2"), "{events:?}");
}

#[tokio::test]
async fn long_arguments_are_truncated_and_old_calls_forgotten() {
    let service = service();
    let long = format!(r#"{{"a": 1, "b": 2, "c": "{}"}}"#, "ä".repeat(10_000));
    call(&service, None, "math_add", &long).await;
    let events = get(&service, "/explorer/events").await.events().await;
    let shown = events[0]["arguments"].as_str().unwrap();
    assert!(shown.len() <= 4096 + '…'.len_utf8() && shown.ends_with('…'), "{}", shown.len());
    for _ in 0..300 {
        call(&service, None, "math_add", r#"{"a": 1, "b": 2}"#).await;
    }
    let events = get(&service, "/explorer/events").await.events().await;
    assert_eq!(events.len(), 200);
    assert!(events.is_sorted_by_key(|event| event["id"].as_u64().unwrap()), "{events:?}");
}

#[tokio::test]
async fn arguments_of_4096_bytes_are_shown_whole_and_longer_ones_to_that_length() {
    let service = service();
    for n_bytes in [4095, 4096, 4097, 4098, 5000] {
        let mut arguments = format!(r#"{{"a": 1, "b": 2, "c": "{}"}}"#, "c".repeat(n_bytes - 25));
        assert_eq!(arguments.len(), n_bytes);
        call(&service, None, "math_add", &arguments).await;
        let events = get(&service, "/explorer/events").await.events().await;
        if n_bytes > 4096 {
            arguments.truncate(4096);
            arguments.push('…');
        }
        assert_eq!(events.last().unwrap()["arguments"], arguments, "{n_bytes}");
    }
}

#[tokio::test]
async fn callers_see_their_own_calls_and_operators_those_of_all() {
    let service = http().verify(Users).into_service();
    for user in ["ann", "bob", "ann"] {
        call(&service, Some(user), "math_add", r#"{"a": 1, "b": 2}"#).await;
    }
    let callers = async |token| {
        let events = events_of(&service, token).await;
        events.iter().map(|event| event["caller"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(callers("ann").await, ["ann", "ann"]);
    assert_eq!(callers("bob").await, ["bob"]);
    assert_eq!(callers("eve").await, [""; 0]);
    assert_eq!(callers("root+operate").await, ["ann", "bob", "ann"]);
}

#[tokio::test]
async fn the_ids_of_calls_do_not_count_the_calls_of_others() {
    let service = http().verify(Users).into_service();
    for user in ["ann", "ann", "bob"] {
        call(&service, Some(user), "math_add", r#"{"a": 1, "b": 2}"#).await;
    }
    let events = events_of(&service, "bob").await;
    let (id, started_at) = (events[0]["id"].as_u64().unwrap(), events[0]["startedAt"].as_u64().unwrap());
    assert!((id / 1000).abs_diff(started_at) <= 1, "{events:?}");
}

#[tokio::test]
async fn a_call_that_is_dropped_is_recorded_as_cancelled() {
    /// Never ends.
    #[toolkit::tool(namespace = "slow", version = "1.0.0")]
    async fn wait() {
        std::future::pending::<()>().await;
    }
    let calls = RecentCalls::new().without_arguments();
    let dispatcher = Dispatcher::builder(catalog![wait].unwrap()).layer(calls.clone()).build().unwrap();
    let service = Server::new(dispatcher.clone()).unwrap().http();
    let service = service.route(Explorer::new("Tools").recent_calls(calls)).into_service();
    let mut waiting = Box::pin(dispatcher.call("slow:wait", "{}"));
    assert!(crate::explorer::futures_now(waiting.as_mut()).is_none());
    let running = get(&service, "/explorer/events").await.events().await;
    assert_eq!((&running[0]["outcome"], &running[0]["duration"]), (&json!(null), &json!(null)));
    drop(waiting);
    let ended = get(&service, "/explorer/events").await.events().await;
    assert_eq!((&ended[0]["outcome"], &ended[0]["id"]), (&json!("cancelled"), &running[0]["id"]));
    assert!(ended[0].get("arguments").is_none(), "{ended:?}");
}
