//! The cases of the systems that this crate replaces, for backends.

use test_support::ran;
use toolkit::Tool;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::stream::Event;
use toolkit::tool::ToolBackend;
use toolkit_backends::LocalBackend;

use super::*;

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn runs() -> Value {
    document(include_str!("../../cases/runs.json"))
}

fn list<'d>(document: &'d Value, key: &str) -> &'d [Value] {
    document[key].as_array().unwrap()
}

async fn builder(backends: &Backends) -> DispatcherBuilder {
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty());
    Dispatcher::builder(collected.catalog).routes(collected.routes)
}

fn mcp(result: &Value) -> toolkit::backend::BackendResponse {
    toolkit::backend::BackendResponse::Mcp(result.to_string().into_bytes())
}

/// The cases of single calls with a different outcome, and the decision.
const DECIDED: [(&str, &str); 5] = [
    ("mcp_uses_bare_name", "a backend is given the tool and calls it by the name that it has there"),
    ("local_uses_backend_name", "a handler is called by the id of its tool"),
    ("unknown_backend_kind", "there are three kinds, and no other can be read"),
    ("progress_single", "progress is what a tool reports; an outcome needs no report of its own"),
    ("progress_single_even_on_invalid_id", "the same"),
];

#[tokio::test]
async fn single_calls_end_in_the_stage_of_the_case() {
    let document = runs();
    let cases = list(&document, "run");
    for case in cases {
        let id = case["id"].as_str().unwrap();
        // The schema accepts and returns a number, so this is the verdict of the case's validator.
        let (arguments, answer) = match id {
            "input_invalid" | "input_validation_off" => (json!({}), json!(1)),
            "output_invalid" => (json!({ "n": 1 }), json!("text")),
            _ => (json!({ "n": 1 }), json!(1)),
        };
        let backend = Scripted::new("b", BackendKind::Provider, [numeric("tool")]);
        let backend = backend.doing(move |_| Ok(answer.clone().into()));
        let described = Catalog::new([numeric("no-backends")]).unwrap();
        let collected = registered([backend.clone()]).collect(described).await;
        let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes);
        let dispatcher = dispatcher.validate_input(case["validate_input"] != json!(false)).build().unwrap();
        let name = match id {
            "empty_tool_id" => "",
            "no_backends" => "no-backends",
            _ => "b:tool",
        };
        let outcome = dispatcher.call(name, arguments).await;
        let was_called = backend.asked().iter().any(|asked| asked.starts_with("call"));
        let expected = match id {
            "empty_tool_id" => Some((ErrorKind::UnknownTool, Stage::Resolve)),
            "no_backends" => Some((ErrorKind::NoBackend, Stage::Select)),
            "input_invalid" => Some((ErrorKind::InvalidArguments, Stage::ValidateInput)),
            "output_invalid" => Some((ErrorKind::InvalidOutput, Stage::ValidateOutput)),
            "local_handler_null" => {
                let local = LocalBackend::new("l");
                local.add(open("tool"), |_: Value, _: Context| async { Ok(Value::Null) });
                let registry = Backends::new();
                registry.register(local.clone()).unwrap();
                let dispatcher = builder(&registry).await.build().unwrap();
                local.remove("tool");
                assert_eq!(dispatcher.call("l:tool", "{}").await.unwrap_err().kind(), ErrorKind::NoBackend);
                None
            }
            "unknown_backend_kind" => {
                assert!(serde_json::from_value::<ToolBackend>(case["backend"].clone()).is_err());
                None
            }
            "input_validation_off" => None,
            _ => {
                assert!(DECIDED.iter().any(|(decided, _)| *decided == id), "{id}");
                None
            }
        };
        assert_eq!(outcome.as_ref().err().map(|error| (error.kind(), error.stage())), expected, "{id}");
        if let Some(called) = case["handler_called"].as_bool() {
            assert_eq!(was_called, called, "{id}");
        }
    }
    ran(cases.len());
}

/// The cases of lookups with a different outcome, and the decision.
const DECIDED_RESOLVE: [(&str, &str); 4] = [
    ("index_first", "a catalogue holds every tool, and routes all of its backends: see the tests of `collect`"),
    ("index_not_found_falls_back", "what else knows tools is a backend, and is collected"),
    ("index_backends_unexpected_error", "a backend that cannot be asked is a failure of collecting"),
    ("resolver_errors_are_swallowed", "they are not: each is told beside the backend's name"),
];

#[tokio::test]
async fn tools_are_found_in_one_catalogue_and_no_error_is_swallowed() {
    let document = runs();
    let cases = list(&document, "resolve");
    for case in cases {
        assert!(DECIDED_RESOLVE.iter().any(|(decided, _)| case["id"] == *decided), "{case}");
    }
    let failing = registered([
        Scripted::new("down", BackendKind::Mcp, []).in_mood(Mood::Failing),
        Scripted::new("up", BackendKind::Mcp, [open("tool")]),
    ]);
    let collected = failing.collect(base()).await;
    assert_eq!(collected.failures[0].to_string(), "down: not today");
    assert!(collected.catalog.get("up:tool").is_some());
    ran(cases.len());
}

fn kind(name: &str) -> BackendKind {
    [BackendKind::Local, BackendKind::Provider, BackendKind::Mcp]
        .into_iter()
        .find(|kind| kind.as_str() == name)
        .unwrap()
}

#[tokio::test]
async fn the_backend_of_the_case_is_selected() {
    let document = runs();
    let cases = list(&document, "select_backend");
    for case in cases {
        let registry = Backends::new();
        for (idx, name) in list(case, "backends").iter().enumerate() {
            let tool = Tool::builder("tool").namespace("ns").description("…").input(json!({ "type": "object" }));
            let name = name.as_str().unwrap();
            registry.register(Scripted::new(&format!("b{idx}"), kind(name), [tool.build().unwrap()])).unwrap();
        }
        let dispatcher = builder(&registry).await;
        let dispatcher = match case["selector"].as_str() {
            None => dispatcher,
            Some("always mcp") => {
                dispatcher.select(|_, backends| backends.iter().position(|backend| backend.kind() == BackendKind::Mcp))
            }
            Some(other) => panic!("{other}"),
        };
        match (case["expect"].as_str(), dispatcher.build().unwrap().call("ns:tool", "{}").await) {
            (Some(expected), Ok(result)) => assert_eq!(result.backend().kind().as_str(), expected),
            (None, Err(error)) => assert_eq!(error.kind(), ErrorKind::UnknownTool, "no backend has a tool"),
            (_, outcome) => panic!("{case}: {outcome:?}"),
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn results_of_mcp_are_normalised_as_in_the_cases() {
    let document = runs();
    let cases = list(&document, "normalize");
    for case in cases {
        let answer = case["mcp_result"].clone();
        let backend = Scripted::new("m", BackendKind::Mcp, [open("tool")]).doing(move |_| Ok(mcp(&answer)));
        let outcome = builder(&registered([backend])).await.build().unwrap().call("m:tool", "{}").await;
        match case.get("expect") {
            Some(expected) => assert_eq!(outcome.unwrap().value(), *expected, "{case}"),
            // A gap according to the case is closed here.
            None => assert_eq!(case["should_be"], json!("an execution error").clone(), "{:?}", outcome.unwrap_err()),
        }
    }
    ran(cases.len());
}

/// The cases of streams with a different outcome, and the decision.
const DECIDED_STREAM: [(&str, &str); 6] = [
    ("keeps_existing_id", "an event names the tool that was called, always"),
    ("local_not_supported", "functions stream too"),
    ("null_stream", "a backend that gives no parts gives its end"),
    ("executor_not_configured", "a backend that is not there has no tools"),
    ("no_output_validation", "the whole result is validated, and so are its parts"),
    ("cancel_midway", "a call that is cancelled ends in one error"),
];

#[tokio::test]
async fn streams_have_the_events_of_the_cases() {
    let document = runs();
    let cases = list(&document, "stream");
    let backend = Scripted::new("ns", BackendKind::Mcp, [open("mytool")]).doing(|_| Ok(Value::Null.into()));
    let dispatcher = builder(&registered([backend])).await.build().unwrap();
    for case in cases {
        let id = case["id"].as_str().unwrap();
        match id {
            "mcp_done" | "stamps_missing_id" => {
                let mut events = dispatcher.stream("ns:mytool", "{}");
                let mut kinds = Vec::new();
                while let Some(event) = events.next().await {
                    assert_eq!(event.tool_id, "ns:mytool");
                    kinds.push(event.event.kind());
                }
                let expected: Vec<&str> =
                    list(case, "events_out").iter().map(|event| event["kind"].as_str().unwrap()).collect();
                // This backend reports progress and sends a part in every case.
                kinds.retain(|kind| expected.contains(kind));
                assert_eq!(kinds, expected, "{id}");
            }
            "empty_id" => {
                let event = dispatcher.stream("", "{}").next().await.unwrap();
                assert!(matches!(event.event, Event::Error(error) if error.kind() == ErrorKind::UnknownTool));
            }
            _ => assert!(DECIDED_STREAM.iter().any(|(decided, _)| *decided == id), "{id}"),
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn events_are_written_as_in_the_cases() {
    let document = runs();
    let cases = list(&document, "json_shapes");
    let backend = Scripted::new("myns", BackendKind::Mcp, [open("mytool")]).doing(|_| Ok(json!({ "a": 1 }).into()));
    let dispatcher = builder(&registered([backend])).await.build().unwrap();
    let mut events = dispatcher.stream("myns:mytool", "{}");
    let mut written = Vec::new();
    while let Some(event) = events.next().await {
        written.push(json!(event));
    }
    written.push(json!(dispatcher.stream("nobody", "{}").next().await.unwrap()));
    assert_eq!(
        written,
        [
            json!({ "kind": "progress", "toolId": "myns:mytool", "data": { "progress": 1.0, "total": 2.0, "message": "half" } }),
            json!({ "kind": "chunk", "toolId": "myns:mytool", "data": "a part" }),
            json!({ "kind": "done", "toolId": "myns:mytool", "data": { "a": 1 } }),
            json!({ "kind": "error", "toolId": "nobody", "data": "no tool is named `nobody`" }),
        ]
    );
    for case in cases {
        match case["type"].as_str().unwrap() {
            "StreamEvent" => {
                let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
                assert_eq!(keys(&written[0]), keys(&case["value"]));
                assert_eq!(written[0]["kind"], case["value"]["kind"]);
                assert_eq!(written[0]["toolId"], case["value"]["toolId"]);
            }
            "kinds" => {
                let kinds: Vec<&Value> = written.iter().map(|event| &event["kind"]).collect();
                assert_eq!(json!(kinds), case["value"]);
            }
            other => panic!("{other}"),
        }
    }
    ran(cases.len());
}

#[tokio::test]
async fn the_registry_does_what_the_cases_say() {
    let document = document(include_str!("../../cases/registry.json"));
    let cases = list(&document, "registry");
    for case in cases {
        match case["id"].as_str().unwrap() {
            "version_without_namespace" => {
                let (name, version) = (case["name"].as_str().unwrap(), case["version"].as_str().unwrap());
                let tool = Tool::builder(name.to_owned()).version(version.to_owned()).description("…");
                let catalog = Catalog::new([tool.input(json!({ "type": "object" })).build().unwrap()]).unwrap();
                assert!(catalog.get(case["get"].as_str().unwrap()).is_some());
            }
            "stats" => {
                let local = LocalBackend::new("local");
                for name in ["a", "b"] {
                    local.add(open(name), |_: Value, _: Context| async { Ok(Value::Null) });
                }
                let registry = Backends::new();
                registry.register(local).unwrap();
                let collected = registry.collect(Catalog::new([]).unwrap()).await;
                assert_eq!(json!(collected.catalog.len()), case["expect"]["total"]);
                let is_local =
                    |tool: &&Tool| collected.routes.backends(tool.id()).all(|to| to.kind() == BackendKind::Local);
                assert_eq!(json!(collected.catalog.iter().filter(is_local).count()), case["expect"]["local"]);
            }
            "mcp_backend_round_trip" => {
                let backend = Scripted::new("m", BackendKind::Mcp, [open("echo")]).doing(|call| {
                    Ok(mcp(&json!({ "structuredContent": { "echo": call.arguments().to_value()?["message"] } })))
                });
                let dispatcher = builder(&registered([backend])).await.build().unwrap();
                assert_eq!(dispatcher.call("m:echo", &case["args"]).await.unwrap().value(), case["expect"]);
            }
            "mcp_empty_name" => {
                assert!(Backends::new().register(Scripted::new("", BackendKind::Mcp, [])).is_err());
            }
            "mcp_duplicate_name" => {
                let registry = registered([Scripted::new("m", BackendKind::Mcp, [])]);
                assert!(registry.register(Scripted::new("m", BackendKind::Mcp, [])).is_err());
            }
            other => panic!("{other}"),
        }
    }
    ran(cases.len());
}

/// These kinds run code that a model wrote; none of them is a backend.
#[test]
fn kinds_that_run_code_are_not_backends() {
    let document = document(include_str!("../../cases/registry.json"));
    let kinds = list(&document, "backend_kinds");
    for kind in kinds {
        let error = serde_json::from_value::<ToolBackend>(json!({ "kind": kind })).unwrap_err().to_string();
        assert!(error.contains("expected `mcp`, `provider` or `local`"), "{error}");
    }
    ran(kinds.len());
}
