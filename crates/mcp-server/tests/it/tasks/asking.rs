//! Questions of tasks to the user.

use super::tools::{server, server_with};
use super::*;

fn accept(value: Value) -> Value {
    json!({ "action": "accept", "content": { "value": value } })
}

fn painter(params: &Value) -> Value {
    accept(match params["message"].as_str().unwrap() {
        "Which color?" => json!("red"),
        "Who painted?" => json!("Ada"),
        "How many hours?" => json!(3),
        other => panic!("{other}"),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_asks_and_runs_once() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "paint", json!({})).await;
        stage.open();
        let mut asked = Vec::new();
        let result = result(&mut client, era, &task, |params| {
            asked.push(params["message"].as_str().unwrap().to_owned());
            if era == Era::Legacy {
                let related = &params["_meta"]["io.modelcontextprotocol/related-task"];
                assert_eq!(related["taskId"], task["taskId"]);
            }
            painter(params)
        });
        assert_eq!(text(&result.await), "red, by Ada in 3 hours", "{era:?} {way:?}");
        asked.sort();
        assert_eq!(asked, ["How many hours?", "Which color?", "Who painted?"], "nothing is asked twice");
        assert_eq!(stage.effects(), ["started", "painted"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_shows_that_it_waits_for_its_user() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "paint", json!({})).await;
        stage.open();
        let waiting = poll(&mut client, &task, &["input_required"]).await;
        assert_eq!(waiting["inputRequests"].is_object(), era == Era::Modern);
        send(&mut client, "tasks/cancel", &json!({ "taskId": task["taskId"] })).await;
        assert_eq!(poll(&mut client, &task, ENDED).await["status"], "cancelled");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_arrive_one_by_one_and_those_to_other_questions_are_ignored() {
    let (server, stage) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "paint", json!({})).await;
    stage.open();
    poll(&mut client, &task, &["input_required"]).await;
    let update = |answers: Value| json!({ "taskId": task["taskId"], "inputResponses": answers });
    let ignored = update(json!({ "question-7": 5, "other": accept(json!("blue")) }));
    assert_eq!(send(&mut client, "tasks/update", &ignored).await["result"]["resultType"], "complete");
    let invalid = update(json!({ "question-1": 5 }));
    assert_eq!(send(&mut client, "tasks/update", &invalid).await["error"]["code"], -32602);
    let first = update(json!({ "question-1": accept(json!("red")) }));
    send(&mut client, "tasks/update", &first).await;
    // The answer to a question that has one is ignored, so it cannot be changed.
    let changed = update(json!({ "question-1": accept(json!("blue")) }));
    send(&mut client, "tasks/update", &changed).await;
    stage.has_seen("painted").await;
    let waiting = loop {
        let waiting = poll(&mut client, &task, &["input_required"]).await;
        if waiting["inputRequests"].as_object().unwrap().len() == 2 {
            break waiting;
        }
    };
    let keys: Vec<&String> = waiting["inputRequests"].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["question-2", "question-3"], "a key is never used again");
    send(&mut client, "tasks/update", &update(json!({ "question-2": accept(json!("Ada")) }))).await;
    let waiting = poll(&mut client, &task, &["input_required"]).await;
    assert_eq!(waiting["inputRequests"].as_object().unwrap().keys().collect::<Vec<_>>(), ["question-3"]);
    send(&mut client, "tasks/update", &update(json!({ "question-3": accept(json!(3)) }))).await;
    let ended = poll(&mut client, &task, ENDED).await;
    assert_eq!(text(&ended["result"]), "red, by Ada in 3 hours");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_before_the_call_becomes_a_task_ends_a_round() {
    for way in [Way::Pipes, Way::Http] {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (Era::Modern, way), tasks()).await;
        let mut params = as_task(Era::Modern, "paint_after_asking", json!({}));
        let asked = send(&mut client, "tools/call", &params).await;
        assert_eq!(asked["result"]["resultType"], "input_required");
        params["inputResponses"] = answered(&asked["result"], &mut painter);
        params["requestState"] = asked["result"]["requestState"].clone();
        let created = send(&mut client, "tools/call", &params).await;
        assert_eq!(created["result"]["resultType"], "task");
        assert_eq!(created["result"]["requestState"], Value::Null);
        stage.open();
        assert_eq!(text(&result(&mut client, Era::Modern, &created["result"], |_| unreachable!()).await), "red");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_only_polls_is_asked_before_a_response() {
    for way in [Way::Pipes, Way::Http] {
        let (server, stage) = server_with(|builder| builder.ask_timeout(std::time::Duration::from_secs(20)));
        let mut client = Client::connect(&server, (Era::Legacy, way), tasks()).await;
        let task = start(&mut client, Era::Legacy, "paint", json!({})).await;
        stage.open();
        let params = json!({ "taskId": task["taskId"] });
        let (mut asked, mut statuses) = (Vec::new(), Vec::new());
        while statuses.last().is_none_or(|last: &String| !ENDED.contains(&last.as_str())) {
            let mut user = |params: &Value| {
                assert_eq!(params["_meta"]["io.modelcontextprotocol/related-task"]["taskId"], task["taskId"]);
                asked.push(params["message"].as_str().unwrap().to_owned());
                painter(params)
            };
            let response = client.send_request("tasks/get", &params, &mut user).await;
            statuses.push(response["result"]["status"].as_str().unwrap().to_owned());
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        let first = statuses.iter().position(|status| status == "input_required");
        assert!(first.is_some(), "the client can wait for the result instead: {statuses:?}");
        asked.sort();
        assert_eq!(asked, ["How many hours?", "Which color?", "Who painted?"], "nothing is asked twice");
        assert_eq!(text(&result(&mut client, Era::Legacy, &task, painter).await), "red, by Ada in 3 hours");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_reaches_a_client_that_has_connected_again() {
    let (server, stage) = server();
    let ways = (Era::Legacy, Way::Http);
    let mut first = Client::connect(&server, ways, tasks()).await;
    let task = start(&mut first, Era::Legacy, "paint", json!({})).await;
    stage.open();
    // The first client hangs up without an answer.
    first.hang_up_at_question("tasks/result", &json!({ "taskId": task["taskId"] })).await;
    drop(first);
    let mut second = Client::connect(&server, ways, tasks()).await;
    assert_eq!(text(&result(&mut second, Era::Legacy, &task, painter).await), "red, by Ada in 3 hours");
    assert_eq!(stage.effects(), ["started", "painted"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_for_its_user_holds_no_permit() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server_with(|builder| builder.concurrency(1));
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "paint", json!({})).await;
        stage.open();
        poll(&mut client, &task, &["input_required"]).await;
        let added = send(&mut client, "tools/call", &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } })).await;
        assert_eq!(text(&added["result"]), "3");
        assert_eq!(text(&result(&mut client, era, &task, painter).await), "red, by Ada in 3 hours");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_ask_is_not_asked() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let mut client = Client::connect(&server, (era, way), capabilities).await;
        let task = start(&mut client, era, "paint", json!({})).await;
        stage.open();
        let ended = poll(&mut client, &task, &["input_required", "completed", "failed"]).await;
        assert_eq!(ended["status"], "failed", "{ended}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_does_not_answer_is_an_error_of_the_task() {
    let (server, stage) = server_with(|builder| builder.ask_timeout(std::time::Duration::from_millis(100)));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "paint", json!({})).await;
    stage.open();
    let ended = poll(&mut client, &task, ENDED).await;
    assert_eq!(ended["result"]["isError"], true);
    assert!(text(&ended["result"]).contains("did not answer within 100ms"));
}
