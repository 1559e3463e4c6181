//! The test cases of the published documents.

use std::time::Duration;

use axum::Router;
use axum::routing::post;
use serde_json::json;
use toolkit::Content;
use toolkit_otc::{Definition, OtcBackend, OtcId, Server};

use super::*;

fn document() -> Value {
    serde_json::from_str(include_str!("../../cases/otc_definitions.json")).unwrap()
}

fn cases<'d>(document: &'d Value, section: &str) -> &'d [Value] {
    document[section].as_array().unwrap()
}

fn definitions(document: &Value) -> Vec<Value> {
    let definitions = cases(document, "definitions").iter();
    definitions.map(|case| case.get("definition").unwrap_or(case).clone()).collect()
}

/// Returns the definition that the tool of a definition is published with.
fn again(definition: &Value) -> Value {
    json!(Definition::from_tool(&tool_of(definition), &Default::default()).unwrap())
}

#[test]
fn definitions_are_read_and_come_back() {
    let document = document();
    let definitions = definitions(&document);
    for definition in &definitions {
        assert_eq!(&again(definition), definition);
    }
    ran(definitions.len());
}

#[test]
fn valid_variants_are_read_and_come_back() {
    /// An absent field stays absent.
    const SAYS_NOTHING: &str = "requirements may be an empty object";

    let document = document();
    let cases = cases(&document, "valid_variants");
    for case in cases {
        let mut expected = case["definition"].clone();
        if case["why"] == SAYS_NOTHING {
            expected.as_object_mut().unwrap().shift_remove("requirements");
        }
        assert_eq!(again(&case["definition"]), expected, "{}", case["why"]);
    }
    ran(cases.len());
}

#[test]
fn invalid_definitions_are_refused() {
    let document = document();
    let cases = cases(&document, "invalid_definitions");
    for case in cases {
        let error = Definition::from_json(&case["definition"]).unwrap_err().to_string();
        assert!(error.starts_with("not a definition of a tool (`Calculator.Add@1.0.0`): "), "{}: {error}", case["why"]);
    }
    ran(cases.len());
}

#[test]
fn ids_are_read_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "tool_ids");
    let pattern = jsonschema::validator_for(&json!({ "pattern": document["id_pattern"] })).unwrap();
    for case in cases {
        let text = case["id"].as_str().unwrap();
        let id = text.parse::<OtcId>();
        assert_eq!(id.is_ok(), pattern.is_valid(&case["id"]), "{text}");
        assert_eq!(json!(id.is_ok()), case["matches_openapi_pattern"], "{text}");
        let is_whole = id.is_ok_and(|id| id.version().is_some() && id.to_string() == text);
        assert_eq!(json!(is_whole), case["definition_id"], "{text}");
    }
    ran(cases.len());
}

#[test]
fn versions_are_three_numbers_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "versions");
    for case in cases {
        let mut definition = definition("Calculator.Add@1.0.0");
        definition["version"] = case["version"].clone();
        definition["id"] = json!(format!("Calculator.Add@{}", case["version"].as_str().unwrap()));
        assert_eq!(json!(Definition::from_json(&definition).is_ok()), case["valid"], "{}", case["version"]);
    }
    ran(cases.len());
}

#[tokio::test]
async fn versions_are_resolved_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "version_resolution");
    for case in cases {
        let tools = case["available"].as_array().unwrap().iter().map(|version| {
            let version = version.as_str().unwrap().to_owned();
            Tool::builder("Add").namespace("Calculator").version(version).build().unwrap()
        });
        let dispatcher = dispatcher_of(tools, |id, _, _| Ok(json!(id))).await;
        let got = http::call(&Server::new(dispatcher).into_service(), json!({ "tool_id": case["tool_id"] })).await;
        match case["resolves_to"].as_str() {
            Some(version) => {
                let got = got.is(200);
                assert_eq!(got.body["result"]["value"], format!("Calculator:Add:{version}"), "{case}");
            }
            None => {
                assert!(got.is(400).body["message"].is_string(), "{case}");
            }
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn call_requests_are_taken() {
    let document = document();
    let cases = cases(&document, "call_requests");
    let dispatcher =
        dispatcher_of(definitions(&document).iter().map(tool_of), |id, _, _| Ok(json!({ "status": id, "emails": [] })))
            .await;
    for case in cases {
        let tool_id = case["request"]["tool_id"].as_str().unwrap();
        // The doorbell returns nothing, according to its definition.
        let expected =
            if tool_id.starts_with("Doorbell") { json!(null) } else { json!({ "status": "SMS:Send:0.1.2" }) };
        let expected_of_tool = expected.clone();
        let dispatcher = match expected {
            Value::Null => {
                dispatcher_of([tool_of(&definition(tool_id))], move |_, _, _| Ok(expected_of_tool.clone())).await
            }
            _ => dispatcher.clone(),
        };
        let got = http::call(&Server::new(dispatcher).into_service(), case["request"].clone()).await.is(200);
        let result = &got.body["result"];
        assert_eq!(result["call_id"], case["request"]["call_id"]);
        assert_eq!(result["success"], true);
        assert!(result["duration"].is_u64());
        match expected {
            Value::Null => assert_eq!(result.get("value"), Some(&Value::Null)),
            expected => assert_eq!(result["value"]["status"], expected["status"]),
        }
    }
    ran(cases.len());
}

/// Starts a server with the same response to every call.
async fn server_that_answers(response: Value) -> String {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let tools = json!({ "tools": [definition("Calculator.Add@1.0.0"), any_result()] });
    let router = Router::new()
        .route("/tools", axum::routing::get(async move || tools.to_string()))
        .route("/tools/call", post(async move || json!({ "result": response }).to_string()));
    tokio::spawn(async { axum::serve(listener, router).await });
    url
}

/// A tool that may return any value.
fn any_result() -> Value {
    let mut definition = definition("Calculator.Add@1.0.0");
    definition["id"] = json!("Any.Thing@1.0.0");
    definition["output_schema"] = json!({});
    definition
}

#[tokio::test]
async fn call_responses_are_read() {
    let document = document();
    let cases = cases(&document, "call_responses");
    for case in cases {
        let response = &case["response"];
        let backend = OtcBackend::new("remote", &server_that_answers(response.clone()).await).unwrap();
        let outcome = dispatcher_on(backend).await.call("Any:Thing", json!({ "a": 1, "b": 2 })).await;
        match response["success"] == true {
            true => assert_eq!(outcome.unwrap().value(), response["value"]),
            false => {
                let (error, told) = (outcome.unwrap_err(), &response["error"]);
                assert_eq!(error.message(), told["message"]);
                assert_eq!(error.is_retryable(), told["can_retry"] == true);
                let after = told["retry_after_ms"].as_u64().map(Duration::from_millis);
                assert_eq!(error.retry_after(), after);
                assert_eq!(error.content(), [Content::text(told["additional_prompt_content"].as_str().unwrap())]);
                let cause = std::error::Error::source(&error).unwrap().to_string();
                assert_eq!(cause, told["developer_message"]);
                assert!(!error.to_string().contains(&cause));
            }
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn tools_are_listed_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "list_tools");
    for case in cases {
        let tools = case["response"]["tools"].as_array().unwrap();
        let dispatcher = dispatcher_of(tools.iter().map(tool_of), |_, _, _| Ok(json!(null))).await;
        let got = http::ask(&Server::new(dispatcher).into_service(), http::get("/tools")).await.is(200);
        assert_eq!(got.body, case["response"]);
    }
    ran(cases.len());
}

#[tokio::test]
async fn flows_go_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "flows");
    let tools: Vec<Tool> = definitions(&document).iter().map(tool_of).collect();
    let dispatcher = dispatcher_of(tools, |_, _, _| {
        let error = ToolError::failed("Doorbell ID not found").retryable(Duration::from_millis(500));
        let error = error.with_content([Content::text("ids: doorbell42,doorbell84")]);
        Err(error.caused_by("The doorbell with ID 'doorbell1' does not exist."))
    })
    .await;
    let router = Server::new(dispatcher).into_service();
    for case in cases {
        // The examples have `POST /call`, the surrounding pages `/tools/call`.
        assert_eq!(case["request_line"], "POST /call HTTP/1.1");
        let status: u16 = case["response_line"].as_str().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let got = http::ask(&router, http::post("/tools/call", case["request"].to_string())).await.is(status);
        let (mut got, mut expected) = (got.body, case["response"].clone());
        match case["case"].as_str().unwrap() {
            "server error: version not found" => {
                // The texts are ours.
                assert_eq!(got["message"], "tool `Calculator.Add` was not found");
                assert_eq!(
                    got["developer_message"],
                    "`Calculator.Add@2.0.0` is not available; available versions: 1.0.0"
                );
                for text in ["message", "developer_message"] {
                    got[text] = expected[text].clone();
                }
            }
            _ => {
                // Durations differ, and causes of errors are not sent.
                assert!(got["result"]["duration"].is_u64());
                got["result"]["duration"] = expected["result"]["duration"].clone();
                expected["result"]["error"].as_object_mut().unwrap().shift_remove("developer_message");
            }
        }
        assert_eq!(got, expected, "{}", case["case"]);
    }
    ran(cases.len());
}

#[tokio::test]
async fn requirements_are_checked_as_in_the_cases() {
    let document = document();
    let cases = cases(&document, "requirements_check");
    let tools: Vec<Tool> = definitions(&document).iter().map(tool_of).collect();
    let dispatcher = dispatcher_of(tools, |id, _, _| match &*id {
        "Calculator:Add:1.0.0" => Ok(json!(3)),
        _ => Ok(json!({ "emails": [], "status": "sent" })),
    })
    .await;
    let router = Server::new(dispatcher).into_service();
    for case in cases {
        let tool_id = case["definition"].as_str().unwrap();
        let input = match tool_id.split('.').next().unwrap() {
            "Calculator" => json!({ "a": 1, "b": 2 }),
            "SMS" => json!({ "to": "+1", "message": "hello" }),
            _ => json!({}),
        };
        let request = json!({ "tool_id": tool_id, "input": input, "context": case["context"] });
        let got = http::call(&router, request).await;
        if case["ok"] == true {
            assert_eq!(got.is(200).body["result"]["success"], true, "{case}");
            continue;
        }
        let got = got.is(400);
        let missing = &got.body["missing_requirements"];
        let expected = match case["missing"].as_str().unwrap().split_once(' ') {
            Some(("authorization", id)) => {
                let scopes = ["https://www.googleapis.com/auth/gmail.readonly"];
                json!({ "authorization": [{ "id": id, "oauth2": { "scopes": scopes } }] })
            }
            Some((_, id)) => json!({ "secrets": [{ "id": id }] }),
            None => json!({ "user_id": true }),
        };
        assert_eq!(missing, &expected, "{case}");
    }
    ran(cases.len());
}

#[tokio::test]
async fn errors_are_of_the_classes_of_the_cases() {
    let document = document();
    let cases = cases(&document, "error_classes");
    let dispatcher =
        dispatcher_of([tool_of(&definition("Calculator.Add@1.0.0"))], |_, _, _| Err(ToolError::failed("no"))).await;
    let router = Server::new(dispatcher).into_service();
    for case in cases {
        let (tool_id, input) = match case["when"].as_str().unwrap() {
            "before the tool is called, not input" => ("Calculator.Sub", json!({})),
            "input does not fit input_schema" => ("Calculator.Add", json!({ "a": "one" })),
            "the tool itself fails" => ("Calculator.Add", json!({ "a": 1, "b": 2 })),
            other => panic!("{other}"),
        };
        let status = u16::try_from(case["status"].as_u64().unwrap()).unwrap();
        let got = http::call(&router, json!({ "tool_id": tool_id, "input": input })).await.is(status);
        match status {
            422 => {
                let expected = json!({ "a": "/a must be a number, got \"one\"", "b": "/b is required" });
                assert_eq!(got.body["parameter_errors"], expected);
            }
            200 => assert_eq!(got.body["result"]["success"], false),
            _ => assert!(got.body["message"].is_string()),
        }
    }
    ran(cases.len());
}

/// Checks of published schemas that are not among the cases, most of which refuse their own examples.
const NOT_OURS: [&str; 5] = [
    "CallToolRequest examples",
    "CallToolResponse examples",
    "minimal definition without schemas",
    "1.0 RFC response schema: natural document valid",
    "1.0 RFC response schema: with invocation_id valid",
];

#[test]
fn what_the_published_schema_of_definitions_accepts_is_a_definition() {
    let document = document();
    let mut checks = document["published_schema_checks"].as_object().unwrap().clone();
    checks.retain(|name, _| !NOT_OURS.contains(&name.as_str()));
    let accepted = checks["ToolDefinition examples"].as_object().unwrap();
    assert_eq!(checks.len(), 1);
    for (id, is_accepted) in accepted {
        assert_eq!(json!(Definition::from_json(&definition(id)).is_ok()), *is_accepted, "{id}");
    }
    ran(accepted.len());
}
