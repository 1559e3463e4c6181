//! Calls that wait for their user, before revision 2026-07-28.

use std::time::Duration;

use super::*;
use crate::tools::{server, server_with};

/// The user takes longer than the timeouts of the tool and of the server.
#[tokio::test(flavor = "multi_thread")]
async fn the_time_of_the_user_does_not_count() {
    for way in [Way::Pipes, Way::Http] {
        let (server, _) = server_with(|builder| builder.call_timeout(Duration::from_millis(700)));
        let mut client = Client::connect(&server, (Era::Legacy, way), forms_and_urls()).await;
        let user = |_: &Value| {
            std::thread::sleep(Duration::from_millis(1500));
            accept(json!({ "value": "Ada" }))
        };
        let response = client.call("slow_user", json!({}), user).await;
        assert_eq!(text(&response), "Ada", "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_has_a_limited_time() {
    let (server, _) = server_with(|builder| builder.ask_timeout(Duration::from_millis(50)));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Pipes), forms_and_urls()).await;
    let late = |_: &Value| {
        std::thread::sleep(Duration::from_millis(300));
        accept(json!({ "value": 1 }))
    };
    let response = client.call("book", json!({}), late).await;
    assert!(text(&response).ends_with("the user did not answer within 50ms"), "{response}");
    // The late answer is ignored.
    let response = client.call("add", json!({ "a": 1, "b": 2 }), |_| unreachable!()).await;
    assert_eq!(text(&response), "3");
}

/// More calls wait than may run at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_call_holds_no_permit() {
    let (server, _) = server_with(|builder| builder.concurrency(2));
    let mut clients = Vec::new();
    for _ in 0..8 {
        let mut client = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
        let (asked, is_asked) = tokio::sync::oneshot::channel();
        let mut asked = Some(asked);
        let (answer, answers) = std::sync::mpsc::channel::<()>();
        let call = tokio::spawn(async move {
            let user = move |_: &Value| {
                asked.take().unwrap().send(()).unwrap();
                tokio::task::block_in_place(|| answers.recv().unwrap());
                accept(json!({ "value": 2 }))
            };
            client.call("book", json!({}), user).await
        });
        is_asked.await.unwrap();
        clients.push((call, answer));
    }
    let mut other = Client::connect(&server, (Era::Legacy, Way::Http), json!({})).await;
    assert_eq!(text(&other.call("add", json!({ "a": 1, "b": 2 }), |_| unreachable!()).await), "3");
    for (call, answer) in clients {
        answer.send(()).unwrap();
        assert_eq!(text(&call.await.unwrap()), "accepted 2");
    }
}

/// Session ids differ, so an answer with the id of another client's question reaches nothing.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_of_another_session_is_ignored() {
    let (server, _) = server();
    let mut other = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    let (asked, id) = std::sync::mpsc::channel();
    let (proceed, proceeded) = std::sync::mpsc::channel::<()>();
    let call = tokio::spawn(async move {
        let user = move |params: &Value| {
            asked.send(params.clone()).unwrap();
            tokio::task::block_in_place(|| proceeded.recv().unwrap());
            json!({ "action": "decline" })
        };
        client.call("connect", json!({}), user).await
    });
    let params = tokio::task::block_in_place(|| id.recv().unwrap());
    let id = params["elicitationId"].clone();
    other.send(&json!({ "jsonrpc": "2.0", "id": id, "result": { "action": "accept" } })).await;
    proceed.send(()).unwrap();
    assert_eq!(text(&call.await.unwrap()), "Declined");
}

/// A client may have 32 open questions, and a server two running calls here.
#[tokio::test(flavor = "multi_thread")]
async fn abandoned_questions_take_neither_permits_nor_room() {
    let (server, _) = server_with(|builder| builder.concurrency(2));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    for _ in 0..1000 {
        client.abandon("book").await;
    }
    let response = client.call("book", json!({}), |_| accept(json!({ "value": 2 }))).await;
    assert_eq!(text(&response), "accepted 2");
    assert!(server.metrics().contains("toolkit_mcp_calls_running 0"), "{}", server.metrics());
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_that_are_open_together_need_one_permit() {
    let (server, _) = server_with(|builder| builder.concurrency(1));
    for way in [Way::Pipes, Way::Http] {
        let mut client = Client::connect(&server, (Era::Legacy, way), forms_and_urls()).await;
        let user = |params: &Value| match params["message"].as_str().unwrap() {
            "Where?" => accept(json!({ "value": "Rome" })),
            "With a hotel?" => accept(json!({ "value": true })),
            _ => accept(json!({ "value": 3 })),
        };
        let response = client.call("plan", json!({}), user).await;
        assert_eq!(text(&response), "3 days in Rome, hotel: true");
        // The call has returned its permit.
        assert_eq!(text(&client.call("add", json!({ "a": 1, "b": 2 }), |_| unreachable!()).await), "3");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_nobody_waits_for_is_cancelled_at_the_client() {
    let (server, _) = server_with(|builder| builder.ask_timeout(Duration::from_millis(50)));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Pipes), forms_and_urls()).await;
    let late = |_: &Value| {
        std::thread::sleep(Duration::from_millis(300));
        accept(json!({ "value": 1 }))
    };
    client.call("book", json!({}), late).await;
    assert_eq!(client.n_cancelled, 1);
}
