//! The results of MCP servers: the value, the resources and the error that the dispatcher reads, and the parts of a stream.

use std::time::Duration;

use toolkit::RunResult;
use toolkit::backend::BackendResponse;
use toolkit::mcp::ERROR_KEY;

use super::*;

/// A backend whose tool `open` has no output schema, and whose tool `object` returns an object.
fn server(result: String) -> Dispatcher {
    let output = json!({ "type": "object" });
    let object = Tool::builder("object").description("…").input(output.clone()).output(output).build().unwrap();
    let answer = move || Ok(BackendResponse::Mcp(result.clone().into_bytes()));
    dispatcher(&Scripted::new("p", BackendKind::Mcp, [open("open"), object]).doing(move |_| answer()))
}

async fn result(json: impl ToString) -> RunResult {
    server(json.to_string()).call("p:open", "{}").await.unwrap()
}

async fn error(json: Value) -> ToolError {
    server(json.to_string()).call("p:open", "{}").await.unwrap_err()
}

fn texts(texts: &[&str]) -> Value {
    texts.iter().map(|text| json!({ "type": "text", "text": text })).collect()
}

#[tokio::test]
async fn the_value_is_the_structured_content_or_else_that_of_the_texts() {
    let image = json!({ "type": "image", "data": "", "mimeType": "image/png" });
    for (content, expected) in [
        (texts(&[r#"{"a": [1]}"#]), json!({ "a": [1] })),
        (texts(&["3"]), json!(3)),
        (texts(&["three \"é\""]), json!("three \"é\"")),
        (texts(&[r#"{"a": 1, "a": 2}"#]), json!(r#"{"a": 1, "a": 2}"#)),
        (texts(&[r#""\ud800""#]), json!(r#""\ud800""#)),
        (texts(&[r#""\ud83d\ude00""#]), json!("😀")),
        (texts(&["1", "two"]), json!(["1", "two"])),
        (texts(&["", "1"]), json!("1")),
        (texts(&[""]), json!(null)),
        (texts(&[]), json!(null)),
        (json!([{ "type": "text", "text": "1" }, image]), json!("1")),
        (json!([image]), json!(null)),
        (json!([{ "type": "text", "text": 1 }]), json!(null)),
        (json!([{ "type": "other", "text": "1" }]), json!(null)),
    ] {
        let found = result(json!({ "content": content })).await;
        assert_eq!(found.value(), expected, "{content}");
        assert_eq!(found.json().is_none(), expected.is_null(), "{content}");
        assert_eq!(serde_json::from_slice::<Value>(&found.into_json()).unwrap(), expected, "{content}");
        let structured = result(json!({ "content": content, "structuredContent": { "n": 1 } })).await;
        assert_eq!(structured.value(), json!({ "n": 1 }), "{content}");
    }
}

#[tokio::test]
async fn a_number_that_no_float_holds_is_read_as_text() {
    let found = result(r#"{"content":[{"type":"other","n":1e999}],"structuredContent":[1e999,-2E400,1e3]}"#).await;
    assert_eq!(found.value(), json!(["1e999", "-2E400", 1000.0]));
    assert_eq!(json!(found.content()), json!([{ "type": "other", "n": "1e999" }]));
    assert_eq!(found.mcp_result().unwrap()["structuredContent"][0], "1e999");
    assert!(found.mcp_json().unwrap().contains("1e999,-2E400"), "it is passed on as it came");
}

#[tokio::test]
async fn an_empty_list_is_an_empty_object_where_the_protocol_has_objects() {
    let sent = json!({
        "content": [{ "type": "text", "text": "[]", "annotations": [], "_meta": [], "x": [] }],
        "structuredContent": [],
        "_meta": [],
        "x": [],
    });
    let mut expected = sent.clone();
    expected["_meta"] = json!({});
    (expected["content"][0]["annotations"], expected["content"][0]["_meta"]) = (json!({}), json!({}));
    let found = result(sent.clone()).await;
    assert_eq!(json!(found.mcp_result()), expected);
    expected["structuredContent"] = json!({});
    let found = server(sent.to_string()).call("p:object", "{}").await.unwrap();
    assert_eq!(json!(found.mcp_result()), expected);
    assert_eq!(found.value(), json!({}));
}

#[tokio::test]
async fn a_result_needs_something_that_is_a_result() {
    for (answer, is_result) in [
        (json!({}), true),
        (json!({ "_meta": {}, "isError": false, "resultType": "complete" }), true),
        (json!({ "foo": 1 }), false),
        (json!({ "foo": 1, "content": [] }), true),
        (json!({ "foo": 1, "structuredContent": null }), true),
        (json!({ "content": {} }), false),
        (json!({ "content": [{ "type": 1 }] }), false),
        (json!([]), false),
    ] {
        let error = server(answer.to_string()).call("p:open", "{}").await.err().map(|error| error.kind());
        assert_eq!(error, (!is_result).then_some(ErrorKind::InvalidResponse), "{answer}");
    }
    let error = error(json!({ "foo": 1, "isError": true })).await;
    assert_eq!((error.kind(), error.message()), (ErrorKind::Failed, "the tool failed without a message"));
}

#[tokio::test]
async fn the_uris_of_a_result_change_in_every_place() {
    let sent = json!({
        "content": [
            { "type": "text", "text": "a:1", "uri": "a:1" },
            { "type": "resource_link", "uri": "a:\"2\"", "name": "a:2" },
            { "type": "resource", "resource": { "uri": "a:3", "text": "a:3" }, "uri": "a:3" },
            { "type": "resource_link", "uri": 4 },
            { "type": "resource", "resource": 5 },
        ],
        "_meta": { "ui/resourceUri": "a:6", "openai/outputTemplate": "a:7", "ui": { "resourceUri": "a:8", "x": "a:9" }, "x": "a:9" },
    });
    let mut expected = sent.clone();
    for (pointer, uri) in [
        ("/content/1/uri", "b:\"2\""),
        ("/content/2/resource/uri", "b:3"),
        ("/_meta/ui~1resourceUri", "b:6"),
        ("/_meta/openai~1outputTemplate", "b:7"),
        ("/_meta/ui/resourceUri", "b:8"),
    ] {
        *expected.pointer_mut(pointer).unwrap() = uri.into();
    }
    let change = |uri: &str| uri.replace("a:", "b:");
    let found = result(sent.clone()).await;
    let same = found.clone().map_uris(str::to_owned);
    assert_eq!(same.mcp_json(), found.mcp_json());
    assert_eq!(json!(found.map_uris(change).mcp_result()), expected);
    let mut failing = sent;
    (failing["isError"], expected["isError"]) = (json!(true), json!(true));
    let error = error(failing).await;
    assert_eq!(json!(error.map_uris(change).mcp_result()), expected);
}

#[tokio::test]
async fn an_error_has_the_kind_the_advice_and_the_violations_that_its_server_states() {
    let stated = async |data: Value| {
        let mut result = json!({ "isError": true, "content": texts(&["no"]), "_meta": {} });
        result["_meta"][ERROR_KEY] = data;
        error(result).await
    };
    // What this program decides is not for others to state.
    for kind in ErrorKind::ALL {
        let is_read = matches!(
            kind,
            ErrorKind::Unavailable
                | ErrorKind::OutcomeUnknown
                | ErrorKind::InvalidArguments
                | ErrorKind::Overloaded
                | ErrorKind::TimedOut
        );
        let expected = if is_read { kind } else { ErrorKind::Failed };
        assert_eq!(stated(json!({ "kind": kind.name() })).await.kind(), expected, "{kind}");
    }
    for (data, is_retryable, after) in [
        (json!({ "kind": "failed" }), false, None),
        (json!({ "kind": "failed", "retryAfterMs": 9 }), false, None),
        (json!({ "kind": "failed", "retryable": true }), true, None),
        (json!({ "kind": "failed", "retryable": true, "retryAfterMs": 9 }), true, Some(Duration::from_millis(9))),
        (
            json!({ "kind": "failed", "retryable": true, "retryAfterMs": 86_400_001 }),
            true,
            Some(Duration::from_secs(86_400)),
        ),
        (json!({ "kind": 1, "retryable": true }), false, None),
    ] {
        let error = stated(data.clone()).await;
        assert_eq!((error.is_retryable(), error.retry_after()), (is_retryable, after), "{data}");
        assert_eq!(error.message(), "no");
    }
    let whole = json!({
        "pointer": "/a", "keyword": "enum", "rule": "must be x", "suggestion": "x", "limit": 3, "sent": 1, "allowed": ["x"],
    });
    let invalid = async |violations: Vec<Value>| {
        let error = stated(json!({ "kind": "invalid_arguments", "violations": violations })).await;
        json!(error.violations()).as_array().unwrap().clone()
    };
    assert_eq!(invalid(vec![whole.clone()]).await, std::slice::from_ref(&whole));
    let text = |n: usize| json!({ "pointer": "", "rule": "x".repeat(n) });
    for (violation, n_read) in [
        (text(2_000), 1),
        (text(2_001), 0),
        (json!({ "pointer": "/a" }), 0),
        (json!({ "rule": "must be x" }), 0),
        (json!({ "pointer": "/a", "rule": "must be x", "x": "x".repeat(16_500) }), 0),
        (json!("must be x"), 0),
    ] {
        assert_eq!(invalid(vec![violation.clone()]).await.len(), n_read, "{violation}");
    }
    assert_eq!((invalid(vec![whole.clone(); 20]).await.len(), invalid(vec![whole.clone(); 21]).await.len()), (20, 20));
    let long = json!({ "pointer": "/a", "rule": "must be x", "sent": "x".repeat(1_100), "allowed": ["x"], "limit": 1 });
    assert_eq!(invalid(vec![long]).await, [json!({ "pointer": "/a", "keyword": "", "rule": "must be x" })]);
    assert!(stated(json!({ "kind": "failed", "violations": [whole] })).await.violations().is_empty());
}

/// Each program that an error passes through names the tool as it knows it.
#[tokio::test]
async fn the_names_of_the_tool_before_an_error_are_removed() {
    for (message, expected) in [
        ("p:count: no", "no"),
        ("count: q:count: count: no", "no"),
        ("q:count:1.0.0: no", "no"),
        ("other: no", "other: no"),
        ("p:other: no", "p:other: no"),
        ("the count: no", "the count: no"),
        ("count:no", "count:no"),
        (": no", ": no"),
        ("count: ", ""),
    ] {
        let failing =
            Scripted::new("p", BackendKind::Mcp, [numeric("count")]).doing(move |_| Err(ToolError::failed(message)));
        let error = dispatcher(&failing).call("p:count", r#"{"n": 1}"#).await.unwrap_err();
        assert_eq!(error.message(), expected);
        assert_eq!(error.to_string(), format!("p:count: {expected}"));
    }
    // The result of a server that is not built with this library stays as it is.
    let sent =
        |meta: Value| json!({ "isError": true, "content": texts(&["p:open: no", "p:open: yes"]), "_meta": meta });
    for (meta, first) in [(json!({}), "p:open: no"), (json!({ ERROR_KEY: { "kind": "failed" } }), "no")] {
        let error = error(sent(meta)).await;
        assert_eq!(error.message(), "no\np:open: yes");
        let content = &error.mcp_result().unwrap()["content"];
        assert_eq!((&content[0]["text"], &content[1]["text"]), (&json!(first), &json!("p:open: yes")));
    }
}

#[tokio::test]
async fn the_content_that_a_host_adds_follows_that_of_the_server() {
    use toolkit::Content;

    for (content, n_before) in [(json!([]), 0), (texts(&["no"]), 0), (json!([{ "type": "x" }]), 1)] {
        let error = error(json!({ "isError": true, "content": content })).await;
        assert_eq!(error.content().len(), n_before, "{content}");
        let error = error.with_content([Content::text("a"), Content::text("b")]);
        let mut expected = content.as_array().unwrap().clone();
        expected.extend(texts(&["a", "b"]).as_array().unwrap().clone());
        assert_eq!(error.mcp_result().unwrap()["content"], json!(expected));
        assert_eq!(error.content().len(), n_before + 2);
    }
    let error = error(json!({ "isError": true, "content": [], "structuredContent": { "n": 1 } })).await;
    assert_eq!(error.data(), Some(&json!({ "n": 1 })));
}

#[tokio::test]
async fn the_parts_of_a_stream_match_the_schema_of_their_list() {
    let list = |items: Value| {
        let output = json!({ "type": "array", "items": items });
        Tool::builder("list").description("…").input(json!({ "type": "object" })).output(output).build().unwrap()
    };
    // The backend sends a text as a part if the call is streamed.
    let kinds = async |items: Value| {
        let backend = Scripted::new("p", BackendKind::Provider, [list(items)]).doing(|_| Ok(json!([]).into()));
        let dispatcher = dispatcher(&backend);
        assert!(dispatcher.call("p:list", "{}").await.is_ok());
        let mut stream = dispatcher.stream("p:list", "{}");
        let mut kinds = Vec::new();
        while let Some(event) = stream.next().await {
            kinds.push(event.event.kind());
        }
        kinds
    };
    assert_eq!(kinds(json!({ "type": "string" })).await, ["progress", "chunk", "done"]);
    assert_eq!(kinds(json!({ "type": "integer" })).await, ["progress", "error"]);
}
