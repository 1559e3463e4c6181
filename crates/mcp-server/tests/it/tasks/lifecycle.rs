//! From the creation of a task to its result.

use std::time::Duration;

use super::tools::{server, server_with};
use super::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_long_call_becomes_a_task_and_runs_once() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        assert_eq!(task["status"], "working");
        assert_eq!(task["taskId"].as_str().unwrap().len(), 40);
        stage.open();
        let result = result(&mut client, era, &task, |_| unreachable!()).await;
        assert_eq!(text(&result), "a shed is built", "{era:?} {way:?}");
        assert_eq!(stage.effects(), ["started", "built"]);
        // The result can be read again.
        let ended = get(&mut client, &task).await;
        assert_eq!(ended["result"]["status"], "completed");
        assert!(server.metrics().contains("toolkit_mcp_tasks 1\n"));
        assert!(server.metrics().contains("toolkit_mcp_calls_running 0\n"));
        assert_eq!(server.status().n_tasks, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_quick_call_has_its_result_at_once() {
    let (server, stage) = server_with(|builder| builder.task_after(Duration::from_secs(60)));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    stage.open();
    let response = send(&mut client, "tools/call", &as_task(Era::Modern, "build", json!({ "name": "a shed" }))).await;
    assert_eq!(response["result"]["resultType"], "complete");
    assert_eq!(text(&response["result"]), "a shed is built");
    assert_eq!(server.status().n_tasks, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_blocks_a_thread_becomes_a_task_too() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build_slowly", json!({})).await;
        stage.open();
        assert_eq!(text(&result(&mut client, era, &task, |_| unreachable!()).await), "built");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_progress_is_the_status_message() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        // The call reports progress when it starts: before the creation of the task, or after it in the earlier era.
        if era == Era::Modern {
            assert_eq!(task["statusMessage"], "the walls are up");
        }
        while get(&mut client, &task).await["result"]["statusMessage"] != "the walls are up" {}
        stage.open();
        let ended = poll(&mut client, &task, ENDED).await;
        assert_eq!(ended["statusMessage"], Value::Null, "the progress is outdated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_error_is_a_completed_task_and_up_to_2025_11_25_a_failed_one() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "ruin" })).await;
        stage.open();
        let ended = poll(&mut client, &task, ENDED).await;
        assert_eq!(ended["status"], if era == Era::Legacy { "failed" } else { "completed" });
        assert_eq!(ended["statusMessage"], "build: it has fallen down");
        let result = result(&mut client, era, &task, |_| unreachable!()).await;
        assert_eq!(result["isError"], true);
        assert_eq!(text(&result), "build: it has fallen down");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_finds_its_task_after_it_has_connected_again() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server();
        let mut first = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut first, era, "build", json!({ "name": "a shed" })).await;
        drop(first);
        let mut second = Client::connect(&server, (era, way), tasks()).await;
        assert_eq!(get(&mut second, &task).await["result"]["status"], "working");
        stage.open();
        assert_eq!(text(&result(&mut second, era, &task, |_| unreachable!()).await), "a shed is built");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_timeout_of_calls_does_not_apply_to_tasks() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server_with(|builder| builder.call_timeout(Duration::from_millis(100)));
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
        stage.open();
        assert_eq!(text(&result(&mut client, era, &task, |_| unreachable!()).await), "a shed is built");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_outlives_its_task_is_cancelled() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server_with(|builder| builder.task_ttl(Duration::from_millis(300)));
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        stage.has_seen("dropped").await;
        let ended = poll(&mut client, &task, ENDED).await;
        assert_eq!(ended["status"], "failed");
        assert_eq!(stage.effects(), ["started", "dropped"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_task_is_unknown() {
    for (era, way) in EACH_WAY {
        let (server, stage) = server_with(|builder| builder.task_ttl(Duration::from_millis(200)));
        let mut client = Client::connect(&server, (era, way), tasks()).await;
        let task = start(&mut client, era, "build", json!({ "name": "a shed" })).await;
        stage.open();
        stage.has_seen("built").await;
        while server.status().n_tasks > 0 {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(get(&mut client, &task).await["error"]["code"], -32602);
    }
}
