//! Calls that are continued in rounds, since revision 2026-07-28.

use super::tools::{server, server_with};
use super::*;
use test_support::client::answered;
use toolkit_mcp_server::StateKey;

fn trip(params: &Value) -> Value {
    accept(json!({ "value": match params["message"].as_str().unwrap() {
        "Where?" => json!("Rome"),
        "How many days in Rome?" => json!(3),
        "With a hotel?" => json!(true),
        other => panic!("{other}"),
    } }))
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_of_one_poll_are_asked_together() {
    for way in [Way::Pipes, Way::Http] {
        let (server, effects) = server();
        let mut client = Client::connect(&server, (Era::Modern, way), forms_and_urls()).await;
        let response = client.call("plan", json!({}), trip).await;
        assert_eq!(text(&response), "3 days in Rome, hotel: true");
        assert_eq!(client.n_rounds, 3);
        assert_eq!(effects.all(), ["started", "started", "started", "planned"], "what precedes a question is repeated");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_of_the_earlier_era_runs_once() {
    let (server, effects) = server();
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), forms_and_urls()).await;
    assert_eq!(text(&client.call("plan", json!({}), trip).await), "3 days in Rome, hotel: true");
    assert_eq!(effects.all(), ["started", "planned"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_without_an_answer_is_asked_again_and_other_answers_are_ignored() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let mut params = json!({ "name": "plan", "arguments": {} });
    let mut no_user = |_: &Value| unreachable!();
    let first = client.call_once(&params, &mut no_user).await;
    params["requestState"] = first["result"]["requestState"].clone();
    params["inputResponses"] = json!({ "other": accept(json!({ "value": "Oslo" })) });
    let again = client.call_once(&params, &mut no_user).await;
    assert_eq!(again["result"]["inputRequests"], first["result"]["inputRequests"]);
    let first = client.call_once(&json!({ "name": "plan", "arguments": {} }), &mut no_user).await;
    params["requestState"] = first["result"]["requestState"].clone();
    params["inputResponses"] = answered(&first["result"], &mut trip);
    let second = client.call_once(&params, &mut no_user).await;
    assert_eq!(second["result"]["inputRequests"].as_object().unwrap().len(), 2);
    // The answers of a call that may have effects continue it once.
    assert_eq!(client.call_once(&params, &mut no_user).await["error"]["code"], -32602);
    // Only one of the two questions is answered.
    let mut answers = answered(&second["result"], &mut trip);
    answers.as_object_mut().unwrap().shift_remove("question-2");
    params["requestState"] = second["result"]["requestState"].clone();
    params["inputResponses"] = answers;
    let third = client.call_once(&params, &mut no_user).await;
    let open = third["result"]["inputRequests"].as_object().unwrap();
    assert_eq!(open.len(), 1);
    assert_eq!(open["question-1"]["params"]["message"], "With a hotel?");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_without_a_state_are_ignored() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let params = json!({
        "name": "add", "arguments": { "a": 1, "b": 2 }, "inputResponses": { "question-1": { "action": "accept" } },
    });
    let response = client.call_once(&params, &mut |_| unreachable!()).await;
    assert_eq!(text(&response), "3");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_may_ask_from_another_task() {
    for way in EACH_WAY {
        let (server, _) = server();
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let response = client.call("from_a_task", json!({}), |_| accept(json!({ "value": "Ada" }))).await;
        assert_eq!(text(&response), "Ada", "{way:?}");
    }
}

/// Each round goes to another server, and the first ones are gone by the end.
#[tokio::test(flavor = "multi_thread")]
async fn servers_that_share_a_key_continue_the_calls_of_each_other() {
    let key = |secret: &str| StateKey::from_secret(secret.repeat(32)).unwrap();
    let with_keys = |keys: Vec<StateKey>| server_with(|builder| builder.state_keys(keys)).0;
    let mut params = json!({ "name": "plan", "arguments": {} });
    // The second server seals with a new key, which the third one knows only in second place.
    for keys in [vec![key("a")], vec![key("b"), key("a")], vec![key("c"), key("b")]] {
        let server = with_keys(keys);
        let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
        let response = client.call_once(&params, &mut |_| unreachable!()).await;
        if response["result"]["resultType"] != "input_required" {
            assert_eq!(text(&response), "3 days in Rome, hotel: true");
            return;
        }
        params["inputResponses"] = answered(&response["result"], &mut trip);
        params["requestState"] = response["result"]["requestState"].clone();
    }
    panic!("the call did not end in three rounds");
}

/// The task still waits for its answer when the round has ended.
#[tokio::test(flavor = "multi_thread")]
async fn a_task_of_an_ended_round_keeps_no_permit() {
    let (server, _) = server_with(|builder| builder.concurrency(2));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    for _ in 0..20 {
        let params = json!({ "name": "from_a_task", "arguments": {} });
        let first = client.call_once(&params, &mut |_| unreachable!()).await;
        assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    }
}

/// The second server would let the state expire at once.
#[tokio::test(flavor = "multi_thread")]
async fn further_questions_do_not_extend_the_life_of_a_state() {
    let key = || StateKey::from_secret("k".repeat(32)).unwrap();
    let (server, _) = server_with(|builder| builder.state_keys([key()]));
    let short_lived = server_with(|builder| builder.state_keys([key()]).state_ttl(std::time::Duration::ZERO)).0;
    let mut params = json!({ "name": "plan", "arguments": {} });
    for server in [&server, &short_lived] {
        let mut client = Client::connect(server, (Era::Modern, Way::Http), forms_and_urls()).await;
        let response = client.call_once(&params, &mut |_| unreachable!()).await;
        params["inputResponses"] = answered(&response["result"], &mut trip);
        params["requestState"] = response["result"]["requestState"].clone();
    }
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let response = client.call_once(&params, &mut |_| unreachable!()).await;
    assert_eq!(text(&response), "3 days in Rome, hotel: true");
}
