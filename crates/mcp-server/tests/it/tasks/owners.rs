//! Tasks of other callers.

use super::tools::server;
use super::*;
use toolkit::dispatch::BoxFuture;
use toolkit_mcp_server::{Caller, TokenError, Verify};

/// Each token is the name of its caller, and then the scopes.
pub struct Names;

impl Verify for Names {
    fn verify<'v>(&'v self, token: &'v str) -> BoxFuture<'v, Result<Caller, TokenError>> {
        Box::pin(async move {
            let (name, scopes) = token.split_once(' ').unwrap_or((token, ""));
            Ok(Caller::named(name).with_scopes(scopes.split_whitespace()))
        })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_another_caller_is_as_unknown_as_one_that_does_not_exist() {
    let (server, stage) = server();
    let service = server.http().verify(Names).into_service();
    let mut ada = Client::with_token(service.clone(), "ada", tasks()).await;
    let mut bob = Client::with_token(service, "bob", tasks()).await;
    let task = start(&mut ada, Era::Modern, "paint", json!({})).await;
    stage.open();
    poll(&mut ada, &task, &["input_required"]).await;
    for is_ended in [false, true] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            let params = |id: &Value| json!({ "taskId": id, "inputResponses": { "question-1": { "action": "accept", "content": { "value": "red" } } } });
            let foreign = send(&mut bob, method, &params(&task["taskId"])).await;
            let missing = send(&mut bob, method, &params(&"0".repeat(40).into())).await;
            assert_eq!(foreign["error"], missing["error"], "{method}, ended: {is_ended}");
            assert_eq!(foreign["error"]["code"], -32602);
        }
        assert_eq!(stage.effects(), ["started"]);
        if !is_ended {
            assert_eq!(get(&mut ada, &task).await["result"]["status"], "input_required");
            send(&mut ada, "tasks/cancel", &json!({ "taskId": task["taskId"] })).await;
            poll(&mut ada, &task, ENDED).await;
        }
    }
    assert_eq!(get(&mut ada, &task).await["result"]["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_without_the_scopes_of_the_tool_does_not_reach_its_tasks() {
    let (server, stage) = server();
    let service = server.http().verify(Names).into_service();
    let mut with_scope = Client::with_token(service.clone(), "ada houses", tasks()).await;
    let mut without = Client::with_token(service, "ada", tasks()).await;
    let task = start(&mut with_scope, Era::Modern, "build_a_vault", json!({})).await;
    stage.open();
    let ended = poll(&mut with_scope, &task, ENDED).await;
    assert_eq!(text(&ended["result"]), "built");
    let params = json!({ "taskId": task["taskId"], "inputResponses": {} });
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let (status, challenge) = without.status_of(method, &params).await;
        assert_eq!(status, 403, "{method}");
        assert!(challenge.contains("scope=\"houses\""), "{challenge}");
    }
    let subscription = json!({ "notifications": { "taskIds": [task["taskId"]] } });
    assert_eq!(without.status_of("subscriptions/listen", &subscription).await.0, 403);
}
