//! The parts of the HTTP request that a tool reads.

use toolkit::{Context, catalog, tool};

use super::pipes::Pipes;
use super::*;

/// Returns the parts of the request.
#[tool(read_only)]
fn parts(ctx: &Context) -> Value {
    let request = ctx.request();
    let names: Vec<&str> = request.headers().map(|(name, _)| name).collect();
    json!({
        "path": request.path(),
        "tenant": request.header("X-Tenant"),
        "names": names,
        "peer": request.peer(),
        "session": request.session(),
    })
}

fn parts_server() -> Server {
    Server::new(Dispatcher::new(catalog![parts].unwrap()).unwrap()).unwrap()
}

fn parts_of(message: &Value) -> &Value {
    &message["result"]["structuredContent"]
}

#[tokio::test]
async fn a_tool_reads_the_path_the_headers_and_the_address_of_its_request() {
    let client = Client::of(serve(parts_server().http()).await).with("x-tenant", "acme");
    let response = client.send(&modern(1, "tools/call", call("parts", json!({})))).await.json();
    let parts = parts_of(&response);
    assert_eq!((&parts["path"], &parts["tenant"]), (&json!("/mcp"), &json!("acme")));
    assert_eq!((&parts["peer"], &parts["session"]), (&json!("127.0.0.1"), &Value::Null));
    assert!(parts["names"].as_array().unwrap().contains(&json!("mcp-method")), "{parts}");
}

#[tokio::test]
async fn a_tool_reads_the_session_of_its_request() {
    let client = Client::of(serve(parts_server().http()).await);
    let initialize = request(1, "initialize", json!({ "protocolVersion": LEGACY }));
    let initialized = client.send(&initialize).await;
    let session = initialized.header("mcp-session-id").unwrap().to_owned();
    let client = client.with("mcp-session-id", &session).with("mcp-protocol-version", LEGACY);
    let response = client.send(&request(2, "tools/call", call("parts", json!({})))).await.json();
    // Before 2026-07-28, structured content is an object.
    let parts = &parts_of(&response)["result"];
    assert_eq!(parts["session"], session, "{response}");
    assert!(!parts["names"].as_array().unwrap().contains(&json!("mcp-session-id")));
}

#[tokio::test]
async fn credentials_of_a_request_do_not_reach_a_tool() {
    let client = Client::of(serve(parts_server().http().token("s3cr3t")).await)
        .with("authorization", "Bearer s3cr3t")
        .with("cookie", "id=7")
        .with("x-api-key", "k")
        .with("x-identity", "eyJhbGciOiJub25lIn0.e30.c2ln")
        .with("x-upstream", "bearer abc")
        .with("x-tenant", "acme");
    let response = client.send(&modern(1, "tools/call", call("parts", json!({})))).await.json();
    let names: Vec<&str> = parts_of(&response)["names"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(names.contains(&"x-tenant"), "{names:?}");
    for name in ["authorization", "cookie", "x-api-key", "x-identity", "x-upstream"] {
        assert!(!names.contains(&name), "{name}");
    }
}

#[tokio::test]
async fn a_large_message_has_its_request_too() {
    let client = Client::of(serve(parts_server().http()).await).with("x-tenant", "acme");
    let mut params = call("parts", json!({}));
    params["_meta"] = json!({ "example.com/padding": "x".repeat(100 << 10) });
    let response = client.send(&modern(1, "tools/call", params)).await.json();
    assert_eq!(parts_of(&response)["tenant"], "acme");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_over_stdio_has_no_request() {
    let (mut pipes, _serving) = Pipes::of(parts_server());
    let response = pipes.ask(&modern(1, "tools/call", call("parts", json!({}))));
    let none = json!({ "path": null, "tenant": null, "names": [], "peer": null, "session": null });
    assert_eq!(*parts_of(&response), none);
}
