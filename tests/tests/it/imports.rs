//! `import!` of a server in another process.

use serde_json::json;
use toolkit::call::{CancelToken, ErrorKind};
use toolkit::{Catalog, Context, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::McpBackend;

toolkit::import!(mod fixture = "manifests/fixture.json");

#[tokio::test]
async fn a_server_is_called_through_typed_functions() {
    let backends = Backends::new();
    backends.register(McpBackend::stdio("fixture", env!("CARGO_BIN_EXE_fixture_mcp"))).unwrap();
    let collected = backends.collect(Catalog::new([]).unwrap()).await;
    assert!(collected.diagnostics.is_empty() && collected.failures.is_empty(), "{collected:?}");
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
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
