//! The number of tasks.

use super::owners::Names;
use super::tools::server_with;
use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn beyond_the_maximum_calls_are_not_tasks() {
    let (server, stage) = server_with(|builder| builder.max_tasks(1));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let task = start(&mut client, Era::Modern, "build", json!({ "name": "a shed" })).await;
    let mut other = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    let response = send(&mut other, "tools/call", &as_task(Era::Legacy, "build", json!({ "name": "a hut" }))).await;
    assert_eq!(response["error"]["code"], -32603);
    assert_eq!(response["error"]["message"], "the server has too many tasks; try again later");
    assert_eq!(stage.effects().iter().filter(|effect| *effect == "started").count(), 1, "the call has not started");

    let params = as_task(Era::Modern, "build", json!({ "name": "a barn" }));
    stage.open_later();
    stage.open_later();
    let response = send(&mut client, "tools/call", &params).await;
    assert_eq!(text(&response["result"]), "a barn is built", "its client waits");
    assert_eq!(text(&result(&mut client, Era::Modern, &task, |_| unreachable!()).await), "a shed is built");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_caller_leaves_room_for_others() {
    let (server, stage) = server_with(|builder| builder.max_tasks_per_caller(2));
    let service = server.http().verify(Names).into_service();
    let mut ada = Client::with_token(service.clone(), "ada", tasks()).await;
    let mut bob = Client::with_token(service, "bob", tasks()).await;
    for _ in 0..2 {
        start(&mut ada, Era::Modern, "build", json!({ "name": "a shed" })).await;
    }
    let params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    let third = send(&mut ada, "tools/call", &params);
    let limit = std::time::Duration::from_millis(200);
    assert!(tokio::time::timeout(limit, third).await.is_err(), "the third call does not become a task");
    start(&mut bob, Era::Modern, "build", json!({ "name": "a barn" })).await;
    drop(stage);
}
