//! Calls through generated functions, to a server of ours over stdio and to handlers.

use serde_json::{Value, json};
use toolkit::backend::{Backend, Backends, LocalBackend};
use toolkit::call::{CancelToken, ErrorKind};
use toolkit::{Catalog, Context, Dispatcher, Manifest, Tool};
use toolkit_mcp::client::McpBackend;

use super::{fixture, github, odd};

async fn dispatcher(backend: impl Backend + 'static) -> Dispatcher {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
}

#[tokio::test]
async fn a_server_is_called_through_typed_functions() {
    let dispatcher = dispatcher(McpBackend::stdio("fixture", env!("CARGO_BIN_EXE_fixture_mcp"))).await;
    fixture::IMPORT.check(dispatcher.catalog()).unwrap();

    let sum = fixture::math_add(&dispatcher, fixture::math_add::Args::new(1, 2)).await.unwrap();
    assert_eq!(sum.sum, 3);
    // What is absent is not sent, so that the default is the server's.
    let rows = fixture::test_x_mcp_header::Args::new("eu west");
    assert_eq!(fixture::test_x_mcp_header(&dispatcher, rows).await.unwrap().0, "10 rows from eu west");
    let rows = fixture::test_x_mcp_header::Args::new("eu west").limit(3);
    assert_eq!(fixture::test_x_mcp_header(&dispatcher, rows).await.unwrap().0, "3 rows from eu west");
    let message = "\u{1f41f} \"quoted\"\n";
    let echoed = fixture::echo(&dispatcher, fixture::echo::Args::new(message)).await.unwrap();
    assert_eq!(echoed.value(), json!({ "echo": message }));
    assert_eq!(fixture::test_simple_text(&dispatcher).await.unwrap().content().len(), 1);

    let error = fixture::test_error_handling(&dispatcher).await.unwrap_err();
    assert_eq!(error.message(), "This tool intentionally returns an error for testing");
    let token = CancelToken::new();
    token.cancel();
    let context = Context::new().with_cancel(token);
    let sum = fixture::math_add::TOOL.call_with(&context, &dispatcher, fixture::math_add::Args::new(1, 2)).await;
    assert_eq!(sum.unwrap_err().kind(), ErrorKind::Cancelled);
}

/// A server with these tools, each of which gives back what it is given.
fn mirror(server: &'static str, tools: impl IntoIterator<Item = Tool>) -> LocalBackend {
    let backend = LocalBackend::new(server);
    for tool in tools {
        backend.add(tool, |arguments: Value, _: Context| async move { Ok(arguments) });
    }
    backend
}

#[tokio::test]
async fn arguments_without_a_type_are_json() {
    let tool = Tool::builder("anything").input(json!({ "type": "object" })).build().unwrap();
    let dispatcher = dispatcher(mirror("odd", [tool])).await;
    let result = odd::anything(&dispatcher, r#"{"a": [1, null]}"#.into()).await.unwrap();
    assert_eq!(result.value(), json!({ "a": [1, null] }));
    // The catalogue says that it is gone, and not only the test that checks the import.
    assert_eq!(odd::match_(&dispatcher).await.unwrap_err().kind(), ErrorKind::UnknownTool);
}

#[tokio::test]
async fn a_result_that_is_not_what_was_imported_is_an_error_that_does_not_repeat_it() {
    let manifest = Manifest::from_mcp_json(include_str!("../../manifests/github.json")).unwrap();
    let issue = manifest.tools().find(|tool| tool.name() == "create_issue").unwrap();
    let now = Tool::builder("create_issue").input(issue.input().as_value().clone()).build().unwrap();
    let dispatcher = dispatcher(mirror("github", [now])).await;
    let issue = github::create_issue::Args::new("octocat", "hello", "hunter2");
    let error = github::create_issue(&dispatcher, issue).await.unwrap_err();
    assert_eq!((error.kind(), error.tool()), (ErrorKind::InvalidResponse, Some("github:create_issue")));
    assert_eq!(error.message(), "the result does not match the imported manifest");
    let lost = github::IMPORT.check(dispatcher.catalog()).unwrap_err().to_string();
    assert!(lost.contains("github:create_issue output root is no longer guaranteed"), "{lost}");
}
