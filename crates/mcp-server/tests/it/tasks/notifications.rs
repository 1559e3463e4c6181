//! Notifications of changes of tasks.

use super::owners::Names;
use super::tools::server;
use super::*;

fn listen_to(ids: &[&Value]) -> Value {
    json!({ "notifications": { "taskIds": ids } })
}

fn is_end(message: &Value) -> bool {
    message["method"] == "notifications/tasks" && ENDED.contains(&message["params"]["status"].as_str().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_subscribed_client_receives_each_state_of_its_task() {
    for way in [Way::Pipes, Way::Http] {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (Era::Modern, way), tasks()).await;
        let task = start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
        stage.open_later();
        let id = &task["taskId"];
        let messages = client.receive("subscriptions/listen", &listen_to(&[id, &json!("unknown")]), is_end).await;
        assert_eq!(messages[0]["method"], "notifications/subscriptions/acknowledged");
        assert_eq!(messages[0]["params"]["notifications"]["taskIds"], json!([id]), "only its own task");
        let last = &messages.last().unwrap()["params"];
        assert_eq!(last["taskId"], *id);
        assert_eq!(text(&last["result"]), "a shed is built");
        let subscription = &last["_meta"]["io.modelcontextprotocol/subscriptionId"];
        assert_eq!(*subscription, json!(client.last_id()));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_and_the_end_of_a_task_that_has_ended_are_notified() {
    let (server, stage) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "paint", json!({})).await;
    let id = &task["taskId"];
    stage.open_later();
    let asks = |message: &Value| message["params"]["status"] == "input_required";
    let messages = client.receive("subscriptions/listen", &listen_to(&[id]), asks).await;
    assert_eq!(messages[1]["params"]["status"], "working", "the first notification has the current state");
    let question = &messages.last().unwrap()["params"]["inputRequests"]["question-1"];
    assert_eq!(question["params"]["message"], "Which color?");
    send(&mut client, "tasks/cancel", &json!({ "taskId": id })).await;
    poll(&mut client, &task, ENDED).await;
    let messages = client.receive("subscriptions/listen", &listen_to(&[id]), is_end).await;
    assert_eq!(messages.last().unwrap()["params"]["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_that_is_open_already_is_notified() {
    let (server, stage) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "paint", json!({})).await;
    stage.open();
    poll(&mut client, &task, &["input_required"]).await;
    let any = |message: &Value| message["method"] == "notifications/tasks";
    let messages = client.receive("subscriptions/listen", &listen_to(&[&task["taskId"]]), any).await;
    assert_eq!(messages[1]["params"]["status"], "input_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_cannot_subscribe_without_the_capability_or_to_other_tasks() {
    let (server, _) = server();
    let service = server.http().verify(Names).into_service();
    let mut ada = Client::with_token(service.clone(), "ada", tasks()).await;
    let task = start(&mut ada, Era::Modern, "build", json!({ "name": "a shed" })).await;
    let mut bob = Client::with_token(service.clone(), "bob", tasks()).await;
    let any = |_: &Value| true;
    let messages = bob.receive("subscriptions/listen", &listen_to(&[&task["taskId"]]), any).await;
    assert_eq!(messages[0]["params"]["notifications"]["taskIds"], json!([]));

    let mut other = Client::with_token(service, "ada", json!({})).await;
    let refused = other.send_unchecked("subscriptions/listen", &listen_to(&[])).await;
    assert_eq!(refused["error"]["code"], -32021);
    let many: Vec<Value> = (0..101).map(|nth| json!(nth.to_string())).collect();
    let refused = bob.send_unchecked("subscriptions/listen", &listen_to(&many.iter().collect::<Vec<_>>())).await;
    assert_eq!(refused["error"]["code"], -32602);
}
