//! Approval by the user of the call.

use super::tools::server;
use super::*;

fn approve(is_approved: bool) -> Value {
    accept(json!({ "approve": is_approved }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_destructive_tool_runs_once_after_its_user_has_approved() {
    for way in EACH_WAY {
        let (server, effects) = server();
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let mut messages = Vec::new();
        let user = |params: &Value| {
            messages.push(params["message"].as_str().unwrap().to_owned());
            approve(true)
        };
        let response = client.call("delete_file", json!({ "path": "a.txt" }), user).await;
        assert_eq!(text(&response), "deleted", "{way:?}");
        assert_eq!(effects.all(), ["deleted a.txt"], "{way:?}");
        assert_eq!(messages, ["Run `delete_file` with these arguments?\n\npath: \"a.txt\""], "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_without_approval_has_no_effect() {
    for way in EACH_WAY {
        for answer in [approve(false), accept(json!({})), json!({ "action": "decline" }), json!({ "action": "cancel" })]
        {
            let (server, effects) = server();
            let mut client = Client::connect(&server, way, forms_and_urls()).await;
            let response = client.call("delete_file", json!({ "path": "a" }), |_| answer.clone()).await;
            assert!(text(&response).contains("the call was not approved: the user "), "{way:?}: {response}");
            assert_eq!(effects.all(), [""; 0], "{way:?}");
        }
        let (server, effects) = server();
        let mut client = Client::connect(&server, way, json!({})).await;
        let response = client.call("delete_file", json!({ "path": "a" }), |_| unreachable!()).await;
        assert!(text(&response).ends_with("the call was not approved: its client cannot ask the user"), "{response}");
        assert_eq!(effects.all(), [""; 0], "{way:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_arguments_are_rejected_before_the_user_is_asked() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let response = client.call("delete_file", json!({ "path": 7 }), |_| unreachable!()).await;
    assert_eq!(response["result"]["isError"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_sees_characters_that_would_be_invisible() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Legacy, Way::Pipes), forms_and_urls()).await;
    let mut message = String::new();
    let user = |params: &Value| {
        message = params["message"].as_str().unwrap().to_owned();
        approve(false)
    };
    let path = format!("safe\u{202e}txt.\u{200b}{}", "x".repeat(3000));
    client.call("delete_file", json!({ "path": path }), user).await;
    assert!(message.contains(r"safe\u{202e}txt.\u{200b}xxx"), "{message}");
    assert!(message.ends_with("more characters)"), "{message}");
}

/// A long argument hides no other one.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_sees_each_argument() {
    let (server, effects) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let mut message = String::new();
    let user = |params: &Value| {
        message = params["message"].as_str().unwrap().to_owned();
        approve(true)
    };
    let arguments = json!({ "content": "x".repeat(100_000), "path": "/etc/passwd" });
    client.call("delete_content", arguments, user).await;
    assert!(message.contains("content: \"xxx") && message.ends_with("\npath: \"/etc/passwd\""), "{message}");
    assert_eq!(effects.all(), ["deleted /etc/passwd"]);
}
