//! Tools that call tools: the dispatcher and the catalog as parameters.

use serde_json::{Value, json};
use toolkit::call::{Credentials, RequestParts};
use toolkit::{Catalog, Context, Dispatcher, ToolError, catalog, handle, tool};

/// Doubles a number.
#[tool(namespace = "injected")]
fn double(n: u64) -> u64 {
    n * 2
}

/// Doubles a number twice.
#[tool(namespace = "injected")]
fn quadruple(n: u64, tools: &Dispatcher, ctx: &Context) -> Result<Value, ToolError> {
    let twice = tools.call_sync_with(ctx, "injected:double", json!({ "n": n }))?.value();
    tools.call_sync_with(ctx, "injected:double", json!({ "n": twice })).map(|result| result.value())
}

/// Calls any tool.
#[tool(namespace = "injected")]
async fn call_any(id: String, arguments: Value, tools: &Dispatcher, ctx: &Context) -> Result<Value, ToolError> {
    Ok(tools.call_with(ctx, &id, arguments).await?.value())
}

/// Calls a tool on a thread that may block.
#[tool(namespace = "injected", blocking)]
fn call_blocking(n: u64, tools: &Dispatcher) -> Result<Value, ToolError> {
    tools.call_sync("injected:double", json!({ "n": n })).map(|result| result.value())
}

/// Lists the tools.
#[tool(namespace = "injected")]
fn list(catalog: &Catalog) -> Vec<String> {
    catalog.iter().map(|tool| tool.id().to_string()).collect()
}

/// Returns the length of a secret.
#[tool(namespace = "injected", requires(secret = "KEY"))]
fn secret_len(ctx: &Context) -> Option<usize> {
    ctx.secret("KEY").map(|secret| secret.expose().len())
}

fn all() -> Catalog {
    catalog![double, quadruple, call_any, call_blocking, list, secret_len].unwrap()
}

#[tokio::test]
async fn a_tool_calls_tools_through_its_own_dispatcher() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    assert_eq!(dispatcher.call_sync("quadruple", json!({ "n": 2 })).unwrap().value(), 8);
    let nested = json!({ "id": "call_any", "arguments": { "id": "quadruple", "arguments": { "n": 1 } } });
    assert_eq!(dispatcher.call("call_any", nested).await.unwrap().value(), 4);
    assert_eq!(dispatcher.call("call_blocking", json!({ "n": 4 })).await.unwrap().value(), 8);
    assert_eq!(handle!(quadruple).call(&dispatcher, 5).await.unwrap(), 20);
    let listed = dispatcher.call_sync("list", json!({})).unwrap().value();
    assert_eq!(listed.as_array().unwrap().len(), 6);
}

#[tokio::test]
async fn a_nested_call_sees_no_credentials_that_the_outer_tool_does_not_require() {
    let dispatcher = Dispatcher::new(all()).unwrap();
    let context = Context::new().with_credentials(Credentials::new().with_secret("KEY", "12345"));
    assert_eq!(dispatcher.call_with(&context, "secret_len", json!({})).await.unwrap().value(), 5);
    let nested = json!({ "id": "secret_len", "arguments": {} });
    let error = dispatcher.call_with(&context, "call_any", nested).await.unwrap_err();
    assert!(error.to_string().contains("the secret `KEY`"), "{error}");
}

#[test]
fn a_request_that_the_host_attaches_takes_precedence_over_that_of_the_server() {
    let request = |path: &'static str| RequestParts::new().with_path(path);
    let served = Context::new().with_request(move || request("/mcp"));
    assert_eq!(served.request().path(), Some("/mcp"));
    assert_eq!(served.with(request("/tenant")).request().path(), Some("/tenant"));
}
