//! Calls that wait for their user, before revision 2026-07-28.

use std::io::{BufRead, Write};
use std::time::Duration;

use test_support::official::assert_official;

use super::raw::Session;
use super::tools::{server, server_with};
use super::*;

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

/// A client may have 64 waiting calls, and a server two running ones here.
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

#[tokio::test(flavor = "multi_thread")]
async fn the_calls_that_wait_are_bounded_per_caller_and_in_total() {
    let (server, _) = server_with(|builder| builder.max_waiting_calls(2, 3));
    let one = Session::start(&server, "2025-11-25", forms_and_urls()).await;
    let other = Session::start(&server, "2025-11-25", forms_and_urls()).await;
    let mut first = one.call(1, "book", json!({})).await;
    let question = first.next().await;
    assert_eq!(question["method"], "elicitation/create");
    let mut second = one.call(2, "book", json!({})).await;
    assert_eq!(second.next().await["method"], "elicitation/create");
    let refused = one.call(3, "book", json!({})).await.next().await;
    let expected = "2 calls of this caller wait for an answer of their user, which is the limit; try again later";
    assert!(text(&refused).ends_with(expected), "{refused}");

    let mut third = other.call(1, "book", json!({})).await;
    assert_eq!(third.next().await["method"], "elicitation/create");
    let refused = other.call(2, "book", json!({})).await.next().await;
    let expected = "3 calls of the server wait for answers of their users, which is the limit; try again later";
    assert!(text(&refused).ends_with(expected), "{refused}");

    // An answer and a client that hangs up make room.
    one.answer(&question, accept(json!({ "value": 3 }))).await;
    assert_eq!(text(&first.next().await), "accepted 3");
    drop(second);
    for id in 4..6 {
        let mut call = one.call(id, "book", json!({})).await;
        assert_eq!(call.next().await["method"], "elicitation/create");
        std::mem::forget(call);
    }
}

/// A call with several open questions is one that waits.
#[tokio::test(flavor = "multi_thread")]
async fn questions_that_are_open_together_are_one_waiting_call() {
    let (server, _) = server_with(|builder| builder.max_waiting_calls(1, 1));
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    let user = |params: &Value| match params["message"].as_str().unwrap() {
        "Where?" => accept(json!({ "value": "Rome" })),
        "With a hotel?" => accept(json!({ "value": true })),
        _ => accept(json!({ "value": 3 })),
    };
    assert_eq!(text(&client.call("plan", json!({}), user).await), "3 days in Rome, hotel: true");
}

/// Advances the clock of the server. The clock runs otherwise.
async fn pass(time: Duration) {
    tokio::time::pause();
    tokio::time::advance(time).await;
    tokio::time::resume();
}

#[tokio::test]
async fn a_call_that_waits_reports_increasing_progress() {
    let (server, _) = server();
    let session = Session::start(&server, "2025-11-25", forms_and_urls()).await;
    let mut call = session.call(1, "book", json!({ "progressToken": "t" })).await;
    let question = call.next().await;
    assert_eq!(question["method"], "elicitation/create");
    let mut last = -1.0;
    for _ in 0..3 {
        pass(Duration::from_secs(13)).await;
        let progress = call.next().await;
        assert_official("2025-11-25", "ProgressNotification", &progress);
        assert_eq!(progress["params"]["progressToken"], "t");
        assert_eq!(progress["params"]["message"], "waiting for the answer of the user");
        let done = progress["params"]["progress"].as_f64().unwrap();
        assert!(done > last, "{progress}");
        last = done;
    }
    session.answer(&question, accept(json!({ "value": 3 }))).await;
    assert_eq!(text(&call.next().await), "accepted 3");
}

#[tokio::test]
async fn a_call_without_a_progress_token_reports_no_progress() {
    let (server, _) = server();
    let session = Session::start(&server, "2025-11-25", forms_and_urls()).await;
    let mut call = session.call(1, "book", json!({})).await;
    let question = call.next().await;
    pass(Duration::from_secs(30)).await;
    session.answer(&question, accept(json!({ "value": 3 }))).await;
    assert_eq!(text(&call.next().await), "accepted 3");
}

/// The calls may take an hour after the shutdown or the end of the input, and the users never answer.
#[tokio::test(flavor = "multi_thread")]
async fn an_open_question_does_not_delay_the_end_of_the_server() {
    for is_shut_down in [true, false] {
        let (server, _) = server_with(|builder| builder.shutdown_timeout(Duration::from_secs(3600)));
        let (input, mut to) = std::io::pipe().unwrap();
        let (from, output) = std::io::pipe().unwrap();
        let serving = tokio::spawn({
            let server = server.clone();
            async move { server.pipes(input, output).await }
        });
        let mut lines = std::io::BufReader::new(from).lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()));
        let mut next = || tokio::task::block_in_place(|| lines.next()).unwrap().unwrap();
        let initialize = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": forms_and_urls(),
            "clientInfo": { "name": "tests", "version": "1" },
        });
        writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize })).unwrap();
        assert!(next()["result"].is_object());
        let call = json!({ "name": "book", "arguments": {} });
        writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call })).unwrap();
        assert_eq!(next()["method"], "elicitation/create");
        let (reason, to) = match is_shut_down {
            true => {
                server.shut_down();
                ("the user can no longer be asked: the server is shutting down", Some(to))
            }
            false => {
                drop(to);
                ("the user can no longer be asked: the client has closed the connection", None)
            }
        };
        let response = loop {
            let message = next();
            if message["id"] == 2 {
                break message;
            }
            assert_eq!(message["method"], "notifications/cancelled");
        };
        assert!(text(&response).ends_with(reason), "{response}");
        tokio::time::timeout(Duration::from_secs(60), serving).await.expect("it waits").unwrap().unwrap();
        drop(to);
    }
}
