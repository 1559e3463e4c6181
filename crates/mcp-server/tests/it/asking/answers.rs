//! The answers of a user reach the tool, in each era and over each transport.

use super::raw::Session;
use super::tools::{server, server_with};
use super::*;

/// The answers of a user to `delete_branch`, and the text that the model reads then.
fn outcomes() -> [(&'static str, Vec<Value>, &'static str); 5] {
    let valid = accept(json!({ "reason": "merged", "force": true }));
    let invalid = accept(json!({ "reason": "x" }));
    let too_many = "the user answered 3 times with invalid values";
    [
        ("accepted", vec![valid.clone()], "old: merged, true"),
        ("declined", vec![json!({ "action": "decline" })], "the user declined"),
        ("closed", vec![json!({ "action": "cancel" })], "the user closed the question without an answer"),
        ("corrected", vec![invalid.clone(), valid], "old: merged, true"),
        ("never valid", vec![invalid.clone(), invalid.clone(), invalid], too_many),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_has_the_same_outcome_in_each_era_and_over_each_transport() {
    for way in EACH_WAY {
        for (name, answers, outcome) in outcomes() {
            let (server, effects) = server();
            let mut client = Client::connect(&server, way, forms_and_urls()).await;
            let mut left = answers.iter();
            let user = |_: &Value| left.next().expect("no further question").clone();
            let response = client.call("delete_branch", json!({ "branch": "old" }), user).await;
            assert!(text(&response).ends_with(outcome), "{way:?}, {name}: {response}");
            let n_deleted = usize::from(outcome.starts_with("old"));
            assert_eq!(effects.all().len(), n_deleted, "{way:?}, {name}");
            assert_eq!(response["result"]["isError"] == true, n_deleted == 0, "{way:?}, {name}");
            assert_eq!(left.count(), 0, "{way:?}, {name}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_can_distinguish_all_answers() {
    for way in EACH_WAY {
        let (server, _) = server();
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let answers = [
            (accept(json!({ "value": 4 })), "accepted 4"),
            (accept(json!({ "value": 4.0 })), "accepted 4"),
            (json!({ "action": "decline" }), "declined"),
            (json!({ "action": "cancel", "content": { "value": 1 } }), "cancelled"),
        ];
        for (answer, outcome) in answers {
            let response = client.call("book", json!({}), |_| answer.clone()).await;
            assert_eq!(text(&response), outcome, "{way:?}");
        }
        let mut other = Client::connect(&server, way, json!({})).await;
        assert_eq!(text(&other.call("book", json!({}), |_| unreachable!()).await), "unsupported", "{way:?}");
    }
}

/// In the earlier era, the answers are sent while the call waits; in the later one, each takes a round.
#[tokio::test(flavor = "multi_thread")]
async fn a_user_reads_the_question_with_its_form() {
    for way in EACH_WAY {
        let (server, _) = server();
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let mut asked = Vec::new();
        let user = |params: &Value| {
            asked.push(params.clone());
            accept(json!({ "reason": "old" }))
        };
        client.call("delete_branch", json!({ "branch": "b" }), user).await;
        let schema = json!({
            "type": "object",
            "properties": {
                "force": {
                    "type": "boolean", "default": false, "description": "Delete the branch even if it is not merged.",
                },
                "reason": { "type": "string", "minLength": 3, "description": "The reason for the log." },
            },
            "required": ["reason"],
        });
        assert_eq!(asked, [json!({ "message": "Delete `b`?", "requestedSchema": schema })], "{way:?}");
        assert_eq!(client.n_rounds, if way.0 == Era::Legacy { 1 } else { 2 });
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_user_who_answered_with_invalid_values_reads_why() {
    let (server, _) = server();
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
    let mut messages = Vec::new();
    let user = |params: &Value| {
        messages.push(params["message"].as_str().unwrap().to_owned());
        accept(json!({ "reason": if messages.len() == 1 { "x" } else { "old" } }))
    };
    client.call("delete_branch", json!({ "branch": "b" }), user).await;
    assert_eq!(messages[0], "Delete `b`?");
    assert_eq!(messages[1], "Delete `b`?\n\n/reason must have at least 3 characters, got \"x\"");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_url_is_opened_only_by_clients_that_declare_it() {
    for way in EACH_WAY {
        let (server, _) = server();
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let mut urls = Vec::new();
        let user = |params: &Value| {
            urls.push((params["mode"].clone(), params["url"].clone()));
            json!({ "action": "accept" })
        };
        let response = client.call("connect", json!({}), user).await;
        assert_eq!(text(&response), "Accepted(())", "{way:?}");
        assert_eq!(urls, [(json!("url"), json!("https://calendar.example/connect"))], "{way:?}");

        for only_forms in [json!({ "elicitation": {} }), json!({ "elicitation": { "form": {} } })] {
            let mut client = Client::connect(&server, way, only_forms).await;
            let response = client.call("connect", json!({}), |_| unreachable!("a question was sent")).await;
            assert_eq!(text(&response), "Unsupported", "{way:?}");
        }
    }
}

/// The later era has an error code for this; a model of the earlier one reads the reason.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_declares_nothing_is_never_asked() {
    for way in EACH_WAY {
        for capabilities in [json!({}), json!({ "sampling": {} }), json!({ "elicitation": { "url": {} } })] {
            let (server, effects) = server();
            let mut client = Client::connect(&server, way, capabilities).await;
            let user = |_: &Value| unreachable!("a question was sent");
            let response = client.call("delete_branch", json!({ "branch": "b" }), user).await;
            match way.0 {
                Era::Legacy => assert!(text(&response).contains("cannot show a form to its user"), "{response}"),
                Era::Modern => {
                    assert_eq!(response["error"]["code"], -32021, "{response}");
                    let required = &response["error"]["data"]["requiredCapabilities"];
                    assert_eq!(*required, json!({ "elicitation": { "form": {} } }));
                }
            }
            assert_eq!(effects.all(), [""; 0], "{way:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_or_a_malformed_answer_is_an_error_that_the_model_reads() {
    for (answer, expected) in [
        (json!({}), "an answer must be an object with `action`"),
        (json!({ "action": "maybe" }), "the `action` of an answer must be"),
        (json!({ "action": "accept", "content": [1] }), "the `content` of an answer must be an object"),
    ] {
        let (server, _) = server();
        let mut client = Client::connect(&server, (Era::Legacy, Way::Pipes), forms_and_urls()).await;
        let response = client.call("book", json!({}), |_| answer.clone()).await;
        assert!(text(&response).contains(expected), "{response}");

        let mut client = Client::connect(&server, (Era::Modern, Way::Http), forms_and_urls()).await;
        let response = client.call("book", json!({}), |_| answer.clone()).await;
        assert_eq!(response["error"]["code"], -32602);
        assert!(response["error"]["message"].as_str().unwrap().contains(expected), "{response}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_asks_at_most_ten_questions() {
    for way in EACH_WAY {
        let (server, effects) = server_with(|builder| builder);
        let mut client = Client::connect(&server, way, forms_and_urls()).await;
        let response = client.call("endless", json!({}), |_| accept(json!({ "value": true }))).await;
        assert!(text(&response).ends_with("a call can ask at most 10 questions"), "{way:?}: {response}");
        assert!(effects.all().len() < 100);
    }
}

/// Revision 2025-06-18 has no `oneOf`, no lists, and no default except for booleans.
#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_2025_06_18_receives_the_forms_of_its_revision() {
    let (server, _) = server();
    for (version, urgency, copies) in [
        (
            "2025-06-18",
            json!({ "type": "string", "enum": ["High", "Low"], "enumNames": ["Today.", "Some day."] }),
            json!({ "type": "integer", "description": "The number of copies.", "minimum": 0, "maximum": 255 }),
        ),
        (
            "2025-11-25",
            json!({ "type": "string", "oneOf": [
                { "title": "Today.", "const": "High" }, { "title": "Some day.", "const": "Low" },
            ] }),
            json!({
                "type": "integer", "description": "The number of copies.", "minimum": 0, "maximum": 255, "default": 7,
            }),
        ),
    ] {
        let session = Session::start(&server, version, forms_and_urls()).await;
        let mut call = session.call(1, "order", json!({})).await;
        let question = call.next().await;
        let fields = &question["params"]["requestedSchema"]["properties"];
        let mut field = fields["urgency"].clone();
        field.as_object_mut().unwrap().shift_remove("description");
        assert_eq!(field, urgency, "{version}");
        assert_eq!(fields["copies"], copies, "{version}");
        assert_eq!(fields["gift"], json!({ "type": "boolean", "default": false }), "{version}");
        session.answer(&question, accept(json!({ "urgency": "Low" }))).await;
        assert_eq!(text(&call.next().await), "Low, 7, false", "{version}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_2025_06_18_is_not_asked_for_several_choices() {
    let (server, _) = server();
    let session = Session::start(&server, "2025-06-18", forms_and_urls()).await;
    assert_eq!(text(&session.call(1, "select", json!({})).await.next().await), "Unsupported");
    let session = Session::start(&server, "2025-11-25", forms_and_urls()).await;
    let question = session.call(1, "select", json!({})).await.next().await;
    assert_eq!(question["method"], "elicitation/create");
}
