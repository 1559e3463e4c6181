//! The stages of a call that a backend runs: each rejects with its own error, in order.

use std::error::Error as _;
use std::time::Duration;

use toolkit::backend::BackendResponse;
use toolkit::call::Credentials;
use toolkit::mcp::{Revision, write_result};
use toolkit::tool::{Requirements, ToolBackend};
use toolkit::{Coercion, Tool};

use super::*;

fn answering(answer: impl Fn() -> Result<BackendResponse, ToolError> + Send + Sync + 'static) -> Scripted {
    Scripted::new("p", BackendKind::Provider, [numeric("count")]).doing(move |_| answer())
}

fn mcp(result: Value) -> BackendResponse {
    BackendResponse::Mcp(result.to_string().into_bytes())
}

async fn fails(backend: &Scripted, arguments: &str) -> ToolError {
    let dispatcher = dispatcher(backend);
    dispatcher.call("p:count", arguments).await.unwrap_err()
}

#[tokio::test]
async fn a_result_has_the_tool_and_its_backend() {
    let backend = answering(|| Ok(json!(3).into()));
    let result = dispatcher(&backend).call("p:count", r#"{"n": 1}"#).await.unwrap();
    assert_eq!((result.tool(), result.value()), ("p:count", json!(3)));
    assert_eq!(result.backend(), ToolBackend::provider("p", "count").unwrap());
    assert!(result.mcp_result().is_none());
    let function = Dispatcher::new(base()).unwrap().call("here:increment", r#"{"n": 1}"#).await.unwrap();
    assert_eq!(function.backend(), ToolBackend::local("here:increment").unwrap());
}

#[tokio::test]
async fn invalid_arguments_never_reach_the_backend() {
    let backend = answering(|| Ok(json!(3).into()));
    for arguments in ["{}", r#"{"n": "1"}"#, r#"{"n": 1, "m": 2}"#, r#"{"n": 1, "n": 2}"#, "[1]", "{"] {
        let error = fails(&backend, arguments).await;
        assert_eq!(error.stage(), Stage::ValidateInput, "{arguments}");
        assert_eq!(error.tool(), Some("p:count"));
    }
    assert_eq!(backend.asked().iter().filter(|asked| asked.starts_with("call")).count(), 0);
}

#[tokio::test]
async fn arguments_that_fit_arrive_as_they_were_sent_and_others_as_they_became() {
    let backend = Scripted::new("p", BackendKind::Provider, [open("echo")])
        .doing(|call| Ok(Value::from(format!("{:?} {}", call.arguments(), call.arguments().to_value()?)).into()));
    let dispatcher = dispatcher(&backend);
    let sent = dispatcher.call("p:echo", r#"{"b": 1,  "a": [2]}"#).await.unwrap();
    assert_eq!(sent.value(), r#"19 bytes of JSON {"b":1,"a":[2]}"#);

    let counting = Scripted::new("p", BackendKind::Provider, [numeric("count")])
        .doing(|call| Ok(call.arguments().to_value()?["n"].clone().into()));
    let lenient = builder(&counting).coercion(Coercion::Lenient);
    let result = lenient.build().unwrap().call("p:count", r#"{"n": "7"}"#).await.unwrap();
    assert_eq!((result.value(), result.changes().len()), (json!(7), 1));
}

#[tokio::test]
async fn an_invalid_result_is_withheld() {
    let answers: [fn() -> BackendResponse; 4] = [
        || json!("s3cret").into(),
        || BackendResponse::Json(br#""s3cret""#.to_vec()),
        || mcp(json!({ "structuredContent": "s3cret" })),
        || mcp(json!({ "content": [] })),
    ];
    for answer in answers {
        let error = fails(&answering(move || Ok(answer())), r#"{"n": 1}"#).await;
        assert_eq!((error.kind(), error.stage()), (ErrorKind::InvalidOutput, Stage::ValidateOutput));
        assert!(!error.to_string().contains("s3cret"));
    }
}

#[tokio::test]
async fn a_malformed_answer_is_an_error() {
    let deep = || (0..200).fold(json!(1), |inner, _| json!([inner]));
    type Answers = fn() -> BackendResponse;
    let answers: [(&str, Answers); 5] = [
        ("not JSON", || BackendResponse::Json(b"{".to_vec())),
        ("a key twice", || BackendResponse::Json(br#"{"a": 1, "a": 2}"#.to_vec())),
        ("content that is no list", || mcp(json!({ "content": "text" }))),
        ("a block without a type", || mcp(json!({ "content": [{ "text": "text" }] }))),
        ("a block that is no object", || mcp(json!({ "content": ["text"] }))),
    ];
    for (what, answer) in answers {
        let error = fails(&answering(move || Ok(answer())), r#"{"n": 1}"#).await;
        assert_eq!((error.kind(), error.stage()), (ErrorKind::InvalidResponse, Stage::Normalize), "{what}");
        assert!(error.source().is_some(), "the host can see why: {what}");
    }
    for answer in [BackendResponse::Value(deep()), mcp(json!({ "structuredContent": deep() }))] {
        let error = fails(&answering(move || Ok(answer.clone())), r#"{"n": 1}"#).await;
        assert_eq!(error.kind(), ErrorKind::InvalidResponse);
    }
}

#[tokio::test]
async fn the_two_checks_are_switched_off_one_by_one() {
    let text = || answering(|| Ok(json!("three").into()));
    let unchecked = builder(&text()).validate_output(false).build().unwrap();
    assert_eq!(unchecked.call("p:count", r#"{"n": 1}"#).await.unwrap().value(), "three");
    assert_eq!(unchecked.call("p:count", "{}").await.unwrap_err().stage(), Stage::ValidateInput);

    let unchecked = builder(&text()).validate_input(false).build().unwrap();
    assert_eq!(unchecked.call("p:count", "{}").await.unwrap_err().stage(), Stage::ValidateOutput);
    assert_eq!(unchecked.call("p:count", "{").await.unwrap_err().kind(), ErrorKind::MalformedJson);
}

#[tokio::test]
async fn the_backends_own_error_is_kept_with_its_cause_and_named() {
    let backend = answering(|| {
        Err(ToolError::failed("come back").retryable(Duration::from_millis(700)).caused_by("the developer's eyes"))
    });
    let error = fails(&backend, r#"{"n": 1}"#).await;
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "come back"));
    assert_eq!((error.is_retryable(), error.retry_after()), (true, Some(Duration::from_millis(700))));
    assert_eq!(error.backend(), Some(&ToolBackend::provider("p", "count").unwrap()));
    assert_eq!(error.source().unwrap().to_string(), "the developer's eyes");
    assert!(!error.to_string().contains("developer"));
}

#[tokio::test]
async fn an_mcp_result_with_is_error_is_an_error_with_its_content() {
    let picture = json!({ "type": "image", "data": "AA==", "mimeType": "image/png", "annotations": { "priority": 1 } });
    let result = json!({ "isError": true, "content": [{ "type": "text", "text": "no such file" }, picture] });
    let error = fails(&answering(move || Ok(mcp(result.clone()))), r#"{"n": 1}"#).await;
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "no such file"));
    assert_eq!(json!(error.content()), json!([picture]), "nothing of a block is lost");

    let silent = fails(&answering(|| Ok(mcp(json!({ "isError": true })))), r#"{"n": 1}"#).await;
    assert_eq!(silent.message(), "the tool failed without a message");
}

#[tokio::test]
async fn a_result_of_mcp_is_kept_as_it_came() {
    let result = json!({ "structuredContent": 3, "content": [{ "type": "text", "text": "3", "_meta": { "x": 1 } }], "_meta": { "y": 2 } });
    let answer = result.clone();
    let backend = answering(move || Ok(mcp(answer.clone())));
    let outcome = dispatcher(&backend).call("p:count", r#"{"n": 1}"#).await.unwrap();
    assert_eq!(json!(outcome.mcp_result()), result);
    assert_eq!(json!(outcome.content()), result["content"]);
    assert_eq!(outcome.value(), 3);
}

#[tokio::test]
async fn a_result_is_passed_on_in_its_order_with_its_digits_and_spaces() {
    let data = r#"{"z": 1.10, "a":[ ],"\u00e9":18446744073709551616}"#;
    let result = format!(
        r#"{{"x":-0,"structuredContent":{data},"content":[{{"text":"a", "type":"text"}}],"_meta":{{"k":1E+2}}}}"#
    );
    let answers = [BackendResponse::Json(data.into()), BackendResponse::Mcp(result.clone().into_bytes())];
    for answer in answers {
        let is_mcp = matches!(answer, BackendResponse::Mcp(_));
        let backend = Scripted::new("p", BackendKind::Mcp, [open("count")]).doing(move |_| Ok(answer.clone()));
        let dispatcher = dispatcher(&backend);
        let outcome = dispatcher.call("p:count", "{}").await.unwrap();
        assert_eq!(outcome.json(), Some(data.as_bytes()));
        assert_eq!(outcome.mcp_json(), is_mcp.then_some(&*result));
        let record = serde_json::to_string(&outcome).unwrap();
        let read: toolkit::RunResult = serde_json::from_str(&record).unwrap();
        assert_eq!((read.json(), read.mcp_json()), (outcome.json(), outcome.mcp_json()));
        if is_mcp {
            let tool = dispatcher.catalog().resolve("p:count").unwrap();
            let written = write_result(tool, &outcome, Revision::V2025_11_25);
            let (fields, meta) = result.split_once(r#","_meta":"#).unwrap();
            let expected = format!(r#"{{"_meta":{},{}}}"#, meta.strip_suffix('}').unwrap(), &fields[1..]);
            assert_eq!(String::from_utf8(written).unwrap(), expected);
        }
    }
}

#[tokio::test]
async fn of_several_equal_keys_the_validated_one_is_passed_on() {
    let result = r#"{"content":[],"content":[{"type":"text","text":""}],"structuredContent":{"n":"1","n":1}}"#;
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tool = Tool::builder("count").description("…").output(output).build().unwrap();
    let backend = Scripted::new("p", BackendKind::Mcp, [tool]).doing(|_| Ok(BackendResponse::Mcp(result.into())));
    let dispatcher = dispatcher(&backend);
    let outcome = dispatcher.call("p:count", "{}").await.unwrap();
    let written = write_result(dispatcher.catalog().resolve("p:count").unwrap(), &outcome, Revision::V2025_11_25);
    let expected = r#"{"content":[{"type":"text","text":""}],"structuredContent":{"n":1}}"#;
    assert_eq!(String::from_utf8(written).unwrap(), expected);
}

#[tokio::test]
async fn requirements_are_checked_first_and_credentials_are_scoped() {
    let secret = Requirements::NONE.with_secret("KEY");
    let tool = Tool::builder("keyed").description("…").requirements(secret).input(json!({ "type": "object" }));
    let backend = Scripted::new("p", BackendKind::Provider, [tool.build().unwrap()]).doing(|call| {
        let held = |id| call.context().secret(id).is_some();
        Ok(json!([held("KEY"), held("OTHER"), call.context().user_id().ok()]).into())
    });
    let dispatcher = dispatcher(&backend);
    let error = dispatcher.call("p:keyed", "[]").await.unwrap_err();
    assert_eq!((error.kind(), error.stage()), (ErrorKind::MissingRequirements, Stage::Require));
    let credentials = Credentials::new().with_secret("KEY", "1").with_secret("OTHER", "2").with_user_id("ada");
    let context = Context::new().with_credentials(credentials);
    let result = dispatcher.call_with(&context, "p:keyed", "{}").await.unwrap();
    assert_eq!(result.value(), json!([true, false, null]));
}

#[tokio::test]
async fn a_panic_in_a_backend_is_that_calls_error() {
    let backend = answering(|| panic!("s3cret"));
    let error = fails(&backend, r#"{"n": 1}"#).await;
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(!error.to_string().contains("s3cret"));
}

#[tokio::test]
async fn a_call_without_a_runtime_fails_with_advice() {
    let error = dispatcher(&answering(|| Ok(json!(3).into())));
    let error = error.call_sync("p:count", r#"{"n": 1}"#).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NeedsRuntime);
    assert_eq!(error.message(), "a backend runs the tool; call it with `Dispatcher::call`");
}
