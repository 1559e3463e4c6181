//! The cancellation of tasks.

use super::tools::server;
use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_cancelled_task_ends_its_call() {
    for (era, way) in EACH_WAY {
        for tool in ["build", "build_slowly"] {
            let (server, stage) = server();
            let mut client = Client::connect(&server, (era, way), tasks()).await;
            let arguments = if tool == "build" { json!({ "name": "a shed" }) } else { json!({}) };
            let task = start(&mut client, era, tool, arguments).await;
            stage.has_seen("started").await;
            let params = json!({ "taskId": task["taskId"] });
            let response = send(&mut client, "tasks/cancel", &params).await;
            if era == Era::Legacy {
                assert_eq!(response["result"]["status"], "cancelled");
            } else {
                let mut fields: Vec<_> = response["result"].as_object().unwrap().keys().collect();
                fields.sort();
                assert_eq!(fields, ["_meta", "resultType"], "an acknowledgement has no task");
            }
            stage.has_seen(if tool == "build" { "dropped" } else { "stopped" }).await;
            assert_eq!(poll(&mut client, &task, ENDED).await["status"], "cancelled");
            // It stays cancelled.
            let again = send(&mut client, "tasks/cancel", &params).await;
            match era {
                Era::Legacy => assert_eq!(again["error"]["code"], -32602),
                Era::Modern => assert_eq!(again["result"]["resultType"], "complete"),
            }
            if era == Era::Legacy {
                assert_eq!(send(&mut client, "tasks/result", &params).await["error"]["code"], -32603);
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_does_not_end_with_its_request_session_or_connection() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        let params = json!({ "requestId": client.last_id() });
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params })).await;
        client.end_session().await;
        drop(client);
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        assert_eq!(get(&mut client, &task).await["result"]["status"], "working");
        stage.open();
        assert_eq!(text(&result(&mut client, era, &task, |_| unreachable!()).await), "a shed is built");
        assert_eq!(stage.effects(), ["started", "built"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_cancelled_before_it_becomes_a_task_leaves_none() {
    let (server, stage) = super::tools::server_with(|builder| builder.task_after(std::time::Duration::from_secs(60)));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    let call = send(&mut client, "tools/call", &params);
    assert!(tokio::time::timeout(std::time::Duration::from_millis(100), call).await.is_err());
    stage.has_seen("dropped").await;
    assert_eq!(server.status().n_tasks, 0);
}
