//! Handlers with Rust types, for tools that are registered at run time.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolkit::call::{ErrorKind, Stage};
use toolkit::catalog::DiagnosticKind;
use toolkit::{Context, Dispatcher, Tool, ToolError, catalog, tool};
use toolkit_backends::{Backends, LocalBackend};

#[derive(Deserialize, JsonSchema)]
struct Shout {
    /// What to say.
    text: String,
    #[serde(default)]
    #[schemars(range(min = 1, max = 3))]
    times: Option<u8>,
    at: Option<At>,
}

/// A rule that no schema contains.
#[derive(Deserialize, JsonSchema)]
#[serde(try_from = "u64")]
#[schemars(with = "u64")]
struct At(u64);

impl TryFrom<u64> for At {
    type Error = String;

    fn try_from(at: u64) -> Result<Self, String> {
        if at.is_multiple_of(2) { Ok(At(at)) } else { Err(format!("{at} is odd")) }
    }
}

#[derive(Serialize, JsonSchema)]
struct Shouted {
    text: String,
    at: Option<u64>,
}

fn shouted(args: Shout) -> Shouted {
    Shouted { text: args.text.to_uppercase().repeat(args.times.unwrap_or(1).into()), at: args.at.map(|at| at.0) }
}

/// Says it louder.
#[tool(namespace = "plugins", name = "by_function")]
fn by_function(args: Shout) -> Shouted {
    shouted(args)
}

fn plugins() -> LocalBackend {
    let plugins = LocalBackend::new("plugins");
    let shout = Tool::builder("shout").description("Says it louder.");
    plugins.add_typed(shout, async |args: Shout, _: Context| Ok(shouted(args))).unwrap();
    let wait = Tool::builder("wait").description("Waits.").timeout(Duration::from_millis(20));
    plugins
        .add_typed(wait, |_: BTreeMap<String, Value>, context: Context| async move {
            context.progress(1.0, None, "waiting");
            tokio::time::sleep(Duration::from_secs(600)).await;
            Ok(())
        })
        .unwrap();
    plugins.add_typed(Tool::builder("unit").description("Does nothing."), async |_: Shout, _| Ok(())).unwrap();
    let fails = Tool::builder("fails").description("Fails.");
    plugins
        .add_typed(fails, async |args: Shout, _| Err::<u8, _>(ToolError::failed(format!("no {}", args.text))))
        .unwrap();
    plugins.add_typed(Tool::builder("infinite").description("Breaks."), async |_: Shout, _| Ok(f64::NAN)).unwrap();
    plugins
}

async fn dispatcher() -> Dispatcher {
    let backends = Backends::new();
    backends.register(plugins()).unwrap();
    let collected = backends.collect(catalog![by_function].unwrap()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty());
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

#[tokio::test]
async fn a_typed_handler_has_the_schemas_of_its_types() {
    let dispatcher = dispatcher().await;
    let tool = |id: &str| -> Tool { dispatcher.catalog().resolve(id).unwrap().clone() };
    assert_eq!(tool("plugins:shout").input(), tool("plugins:by_function").input());
    assert_eq!(tool("plugins:shout").output(), tool("plugins:by_function").output());
    assert!(tool("plugins:unit").output().is_none());
}

#[tokio::test]
async fn a_typed_handler_is_checked_as_a_function_is() {
    let dispatcher = dispatcher().await;
    for arguments in [
        json!({ "text": "a", "times": 2 }),
        json!({ "text": "a", "at": 4 }),
        json!({ "text": "a", "times": null }),
        // Rejected by the schema.
        json!({ "txet": "a" }),
        json!({ "text": "a", "times": 4 }),
        // Rejected by the type, at a location that the schema does not describe.
        json!({ "text": "a", "at": 3 }),
    ] {
        for as_text in [true, false] {
            let call = async |id: &str| match as_text {
                true => dispatcher.call(id, arguments.to_string().as_str()).await,
                false => dispatcher.call(id, arguments.clone()).await,
            };
            match (call("plugins:by_function").await, call("plugins:shout").await) {
                (Ok(function), Ok(handler)) => assert_eq!(function.value(), handler.value()),
                (Err(function), Err(handler)) => {
                    assert_eq!(handler.kind(), ErrorKind::InvalidArguments);
                    assert_eq!(function.message(), handler.message());
                    assert_eq!(function.violations().len(), handler.violations().len());
                }
                (function, handler) => panic!("{arguments}: {function:?} and {handler:?}"),
            }
        }
    }
}

#[tokio::test]
async fn results_of_typed_handlers_are_validated() {
    let dispatcher = dispatcher().await;
    let arguments = json!({ "text": "a" });
    let unit = dispatcher.call("plugins:unit", arguments.clone()).await.unwrap();
    assert_eq!((unit.json(), unit.content().len()), (None, 0));
    let error = dispatcher.call("plugins:fails", arguments.clone()).await.unwrap_err();
    assert_eq!((error.message(), error.stage()), ("no a", Stage::Invoke));
    let error = dispatcher.call("plugins:infinite", arguments).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidOutput);
    let error = dispatcher.call("plugins:wait", json!({ "any": 1 })).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut);
}

#[test]
fn arguments_that_are_no_object_are_an_error_when_the_tool_is_added() {
    let plugins = LocalBackend::new("plugins");
    let tool = Tool::builder("double").description("Doubles a number.");
    let problems = plugins.add_typed(tool, async |n: u8, _: Context| Ok(n * 2)).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>(), [DiagnosticKind::NotAnObject]);
    let tool = Tool::builder("a b").description("Doubles a number.");
    let problems = plugins.add_typed(tool, async |_: Shout, _: Context| Ok(1)).unwrap_err();
    assert_eq!(problems.iter().map(|problem| problem.kind()).collect::<Vec<_>>(), [DiagnosticKind::InvalidName]);
}
