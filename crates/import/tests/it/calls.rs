//! Calls through generated functions.

use serde_json::{Value, json};
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit::{Catalog, Context, Dispatcher, Manifest, Tool};
use toolkit_backends::{Backends, LocalBackend};

use super::{github, odd};

async fn dispatcher(backend: impl Backend + 'static) -> Dispatcher {
    let backends = Backends::new();
    backends.register(backend).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap()
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
    let manifest = Manifest::from_mcp_json(include_str!("../../../../tests/manifests/github.json")).unwrap();
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
