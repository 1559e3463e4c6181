//! Arguments as clients send them: lists, objects, numbers and booleans as JSON text, and one value for a list of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use toolkit::{Coercion, Context, Tool, ToolError, catalog, tool};
use toolkit_backends::{Backends, LocalBackend};
use toolkit_mcp_server::Proxy;

use super::pipes::Pipes;
use super::*;

#[derive(Deserialize, JsonSchema)]
struct Step {
    /// Seconds.
    after: u32,
    labels: Vec<String>,
}

/// Plans steps.
#[tool(namespace = "plan")]
fn steps(steps: Vec<Step>, dry_run: bool, limits: Option<BTreeMap<String, f64>>) -> String {
    let after: u32 = steps.iter().map(|step| step.after).sum();
    let labels: Vec<&str> = steps.iter().flat_map(|step| &step.labels).map(String::as_str).collect();
    format!("{after} {} {dry_run} {limits:?}", labels.join("+"))
}

/// Adds a note, which may look like JSON.
#[tool(namespace = "plan")]
fn note(text: String) -> String {
    text
}

fn serving(coercion: Option<Coercion>, list_at_most: usize) -> Server {
    let builder = Dispatcher::builder(catalog![steps, note].unwrap());
    let builder = coercion.into_iter().fold(builder, toolkit::dispatch::DispatcherBuilder::coercion);
    Server::builder(builder.build().unwrap()).list_at_most(list_at_most).build().unwrap()
}

/// Calls as clients send them, and their results.
fn sent() -> [(&'static str, Value, &'static str); 4] {
    let step = json!({ "after": "30", "labels": "urgent" });
    [
        ("plan_steps", json!({ "steps": step.clone(), "dry_run": "true" }), "30 urgent true None"),
        (
            "plan_steps",
            json!({ "steps": step.to_string(), "dry_run": "false", "limits": r#"{"cpu": "0.5"}"# }),
            r#"30 urgent false Some({"cpu": 0.5})"#,
        ),
        (
            "plan_steps",
            json!({ "steps": json!([step, { "after": 5, "labels": r#"["a", "3"]"# }]).to_string(), "dry_run": true }),
            "35 urgent+a+3 true None",
        ),
        ("plan_note", json!({ "text": "[1, 2]" }), "[1, 2]"),
    ]
}

/// The number of these calls whose arguments do not match their schema.
const COERCED: &str = r#"toolkit_mcp_calls_coerced_total{tool="plan:steps"} 3"#;

#[tokio::test(flavor = "multi_thread")]
async fn clients_send_json_text_and_single_values_over_every_transport() {
    for make in [request, modern] {
        let (over_http, over_pipes) = (serving(None, 1000), serving(None, 1000));
        let client = Client::of(serve(over_http.http()).await);
        let (mut pipes, _serving) = Pipes::of(over_pipes.clone());
        for (name, arguments, expected) in sent() {
            let message = make(1, "tools/call", call(name, arguments));
            for result in [client.send(&message).await.result(), pipes.ask(&message)["result"].clone()] {
                assert_eq!((&result["isError"], &result["content"][0]["text"]), (&json!(false), &json!(expected)));
            }
        }
        for metrics in [client.get("/metrics").await.text(), over_pipes.metrics()] {
            assert!(metrics.lines().any(|line| line == COERCED), "{metrics}");
            assert!(!metrics.contains(r#"coerced_total{tool="plan:note""#), "{metrics}");
        }
    }
}

#[tokio::test]
async fn the_search_tools_read_json_text_too() {
    let server = serving(None, 0);
    let client = Client::of(serve(server.http()).await);
    let called = async |name: &str, arguments: Value| {
        client.send(&modern(1, "tools/call", call(name, arguments))).await.result()["content"][0]["text"].clone()
    };
    for (name, arguments, expected) in sent() {
        for arguments in [arguments.clone(), arguments.to_string().into()] {
            assert_eq!(called("call_tool", json!({ "name": name, "arguments": arguments })).await, expected);
        }
    }
    let twice = COERCED.replace("} 3", "} 6");
    assert!(server.metrics().lines().any(|line| line == twice), "{}", server.metrics());
    let found = called("search_tools", json!({ "query": "notes", "limit": "1" })).await;
    assert_eq!(found.as_str().unwrap().matches("\"name\":").count(), 1, "{found}");

    let strict = Client::of(serve(serving(Some(Coercion::Off), 0).http()).await);
    let arguments = json!({ "text": "a" }).to_string();
    let message = modern(1, "tools/call", call("call_tool", json!({ "name": "plan_note", "arguments": arguments })));
    assert_eq!(strict.send(&message).await.result()["isError"], true);
}

#[tokio::test]
async fn the_dispatcher_of_a_server_is_strict_for_the_program() {
    let server = serving(None, 1000);
    let (name, arguments, _) = sent()[0].clone();
    assert_eq!(name, "plan_steps");
    let error = server.dispatcher().call("plan:steps", arguments).await.unwrap_err();
    assert_eq!(error.kind(), toolkit::call::ErrorKind::InvalidArguments);
}

#[tokio::test]
async fn tools_of_backends_in_the_program_are_coerced_like_its_functions() {
    let backend = LocalBackend::new("scale");
    let input =
        json!({ "type": "object", "properties": { "sizes": { "type": "array", "items": { "type": "number" } } } });
    let tool = Tool::builder("largest").description("Returns the largest size.").input(input).build().unwrap();
    backend.add(tool, |arguments: Value, _: Context| async move { Ok::<_, ToolError>(arguments["sizes"].clone()) });
    let backends = Arc::new(Backends::new());
    backends.register(backend).unwrap();
    let server = serving(None, 1000);
    assert!(Proxy::new(server.clone(), backends).collect().await.is_empty());
    let client = Client::of(serve(server.http()).await);
    let message = modern(1, "tools/call", call("scale_largest", json!({ "sizes": r#"["1.5", 2]"# })));
    let result = client.send(&message).await.result();
    assert_eq!(result["content"][0]["text"], "[1.5,2]", "{result}");
}

#[tokio::test]
async fn one_setting_of_the_dispatcher_makes_a_server_strict() {
    for coercion in [Coercion::Off, Coercion::NullAsAbsent] {
        let server = serving(Some(coercion), 1000);
        let client = Client::of(serve(server.http()).await);
        for (name, arguments, _) in sent() {
            let result = client.send(&modern(1, "tools/call", call(name, arguments))).await.result();
            assert_eq!(result["isError"], name != "plan_note", "{result}");
        }
        assert!(!server.metrics().contains("coerced_total{"), "{}", server.metrics());
    }
}

#[tokio::test]
async fn a_message_is_about_the_value_and_not_about_its_text() {
    let client = Client::of(serve(serving(None, 1000).http()).await);
    let text = json!([{ "after": "soon", "labels": [] }, { "after": "-1", "labels": [] }]).to_string();
    let message = modern(1, "tools/call", call("plan_steps", json!({ "steps": text, "dry_run": "yes" })));
    let result = client.send(&message).await.result();
    let text = result["content"][0]["text"].as_str().unwrap();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("- ")).collect();
    assert_eq!(
        lines,
        [
            r#"- /dry_run must be a boolean, got "yes""#,
            r#"- /steps/0/after must be an integer, got "soon""#,
            "- /steps/1/after must be at least 0, got -1",
        ]
    );
}
