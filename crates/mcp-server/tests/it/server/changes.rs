//! Changes of the list while the server runs.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::net::TcpStream;

use super::*;

/// Returns the next message of an event stream.
pub async fn next(stream: &mut BufReader<TcpStream>) -> Value {
    let read = async {
        loop {
            let mut line = String::new();
            assert_ne!(stream.read_line(&mut line).await.unwrap(), 0, "the stream has ended");
            if let Some(data) = line.strip_prefix("data: ") {
                return serde_json::from_str(data).unwrap();
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(30), read).await.expect("something happens")
}

fn two_tools() -> Dispatcher {
    let catalog = tools::catalog();
    let some = catalog.iter().filter(|tool| tool.id().namespace() == Some("math")).cloned();
    Dispatcher::new(Catalog::new(some).unwrap()).unwrap()
}

#[tokio::test]
async fn a_replaced_catalogue_is_served_at_once() {
    let server = server();
    let client = Client::of(serve(server.http()).await);
    assert_eq!(client.send(&modern(1, "tools/call", call("fail", json!({})))).await.status, 200);
    server.replace(two_tools()).unwrap();
    let list = client.send(&modern(1, "tools/list", json!({}))).await.result();
    assert_eq!(list["tools"].as_array().unwrap().len(), 2);
    assert_eq!(client.send(&modern(1, "tools/call", call("fail", json!({})))).await.code(), -32602);
}

#[tokio::test]
async fn only_subscribers_of_tools_are_notified_of_changes() {
    let server = server();
    let client = Client::of(serve(server.http()).await);
    let listen = |notifications: Value| modern(5, "subscriptions/listen", json!({ "notifications": notifications }));
    let client = client.with("mcp-protocol-version", MODERN).with("mcp-method", "subscriptions/listen");
    let client = client.with("content-type", "application/json");
    let tools = listen(json!({ "toolsListChanged": true })).to_string();
    let mut tools = client.begin("POST", "/mcp", tools.as_bytes()).await;
    let prompts = listen(json!({ "promptsListChanged": true })).to_string();
    let mut prompts = client.begin("POST", "/mcp", prompts.as_bytes()).await;

    let acknowledged = next(&mut tools).await;
    assert_official(MODERN, &acknowledged);
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    assert_eq!(next(&mut prompts).await["params"]["notifications"], json!({}));

    server.announce();
    let changed = next(&mut tools).await;
    assert_official(MODERN, &changed);
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], 5);

    // At the end each stream gets its final response and nothing else.
    server.shut_down();
    for stream in [&mut tools, &mut prompts] {
        let end = next(stream).await;
        assert_fits(MODERN, "SubscriptionsListenResultResponse", &end);
        assert_eq!(end["id"], 5);
    }
}

#[tokio::test]
async fn clients_before_subscriptions_have_a_stream_of_changes() {
    let server = server();
    let client = Client::of(serve(server.http()).await);
    let mut stream = client.with("mcp-protocol-version", "2025-11-25").begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut stream).await.status, 200);
    // The first comment flushes the response head.
    stream.fill_buf().await.unwrap();
    server.announce();
    let changed = next(&mut stream).await;
    assert_official(LEGACY, &changed);
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(client.with("mcp-protocol-version", MODERN).get("/mcp").await.status, 405);
}

#[tokio::test]
async fn a_session_of_an_earlier_process_is_told_that_the_lists_have_changed() {
    let (earlier, server) = (Client::of(serve(server().http()).await), server());
    let client = Client::of(serve(server.http()).await);
    let session = earlier
        .send(&request(1, "initialize", json!({ "protocolVersion": LEGACY })))
        .await
        .header("mcp-session-id")
        .unwrap()
        .to_owned();
    let mut stream = client.with("mcp-session-id", &session).begin("GET", "/mcp", b"").await;
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    // One of this process hears of changes only.
    let mut own = self::session(&client).await.begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut own).await.status, 200);
    own.fill_buf().await.unwrap();
    server.shut_down();
    let mut rest = String::new();
    tokio::io::AsyncReadExt::read_to_string(&mut own, &mut rest).await.unwrap();
    assert!(!rest.contains("list_changed"), "{rest}");
}

#[tokio::test]
async fn a_disabled_tool_is_neither_listed_nor_called_and_clients_are_notified() {
    let server = server();
    let client = Client::of(serve(server.http()).await);
    let n_tools = server.status().n_tools;
    let mut stream = client.with("mcp-protocol-version", "2025-11-25").begin("GET", "/mcp", b"").await;
    assert_eq!(Response::read_head(&mut stream).await.status, 200);
    stream.fill_buf().await.unwrap();
    let id = server.dispatcher().catalog().resolve("fail").unwrap().id().to_string();

    server.disable(id.parse().unwrap()).unwrap();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    assert_eq!(server.status().n_tools, n_tools - 1);
    assert_eq!(client.send(&modern(1, "tools/call", call("fail", json!({})))).await.code(), -32602);
    // Other tools do not enable it.
    server.replace(server.dispatcher()).unwrap();
    assert_eq!(server.status().n_tools, n_tools - 1);

    server.enable(&id.parse().unwrap()).unwrap();
    assert_eq!(next(&mut stream).await["method"], "notifications/tools/list_changed");
    assert_eq!(server.status().n_tools, n_tools);
    assert_eq!(client.send(&modern(1, "tools/call", call("fail", json!({})))).await.status, 200);
}

#[test]
fn a_tool_that_is_disabled_while_others_are_replaced_stays_disabled() {
    let server = server();
    let n_tools = server.status().n_tools;
    let rule = || server.dispatcher().catalog().resolve("fail").unwrap().id().to_string().parse().unwrap();
    for round in 0..100 {
        std::thread::scope(|scope| {
            scope.spawn(|| server.replace(server.dispatcher()).unwrap());
            scope.spawn(|| server.disable(rule()).unwrap());
        });
        assert_eq!(server.status().n_tools, n_tools - 1, "round {round}");
        server.enable(&rule()).unwrap();
    }
}

pub async fn session(client: &Client) -> Client {
    let begun = client.send(&request(1, "initialize", json!({ "protocolVersion": LEGACY }))).await;
    client.with("mcp-session-id", begun.header("mcp-session-id").unwrap())
}

/// Starts a call that never returns.
async fn waiting(client: &Client) -> BufReader<TcpStream> {
    let mut message = request(2, "tools/call", call("wait", json!({})));
    message["params"]["_meta"]["progressToken"] = 1.into();
    let client = client.with("content-type", "application/json");
    let mut stream = client.begin("POST", "/mcp", message.to_string().as_bytes()).await;
    assert_eq!(Response::read_head(&mut stream).await.status, 200);
    assert_eq!(next(&mut stream).await["method"], "notifications/progress");
    stream
}

/// Reads the events before the end.
async fn rest(mut stream: BufReader<TcpStream>) -> String {
    let mut rest = String::new();
    let read = tokio::io::AsyncReadExt::read_to_string(&mut stream, &mut rest);
    tokio::time::timeout(Duration::from_secs(30), read).await.expect("it ends").unwrap();
    rest
}

#[tokio::test]
async fn ending_a_session_cancels_its_calls() {
    let session = session(&client().await).await;
    let waiting = waiting(&session).await;
    assert_eq!(session.ask("DELETE", "/mcp", b"").await.status, 204);
    assert!(!rest(waiting).await.contains("result"));
    assert_eq!(session.send(&request(3, "ping", json!({}))).await.status, 404);
    assert_eq!(session.ask("DELETE", "/mcp", b"").await.status, 404);
}

#[tokio::test]
async fn a_call_is_cancelled_by_its_own_session_only() {
    let client = client().await;
    let (one, other) = (session(&client).await, session(&client).await);
    let waiting = waiting(&one).await;
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": 2 } });
    other.send(&cancel).await;
    client.send(&cancel).await;
    let again = one.send(&request(2, "tools/call", call("math_add", json!({ "a": 1, "b": 2 })))).await;
    assert_eq!(again.code(), -32600, "the first of that id still runs");
    one.send(&cancel).await;
    assert!(!rest(waiting).await.contains("result"));
}

#[tokio::test]
async fn an_id_in_another_format_is_not_a_session() {
    let client = client().await;
    // Calls over pipes have such session names.
    for name in ["pipe 0", "0", "", &"A".repeat(32), &"0".repeat(31), &"0".repeat(33)] {
        let client = client.with("mcp-session-id", name);
        assert_eq!(client.send(&request(1, "ping", json!({}))).await.status, 404, "{name}");
        assert_eq!(client.ask("DELETE", "/mcp", b"").await.status, 404, "{name}");
    }
}

#[tokio::test]
async fn calls_beyond_the_shutdown_timeout_are_dropped() {
    let server = server();
    let listening = server.http().shutdown_timeout(Duration::from_millis(50)).bind("127.0.0.1:0").await.unwrap();
    let client = Client::of(listening.local_addr().unwrap());
    let serving = tokio::spawn(listening.run(std::future::pending()));
    let waiting = waiting(&session(&client).await).await;
    server.shut_down();
    serving.await.unwrap();
    assert!(!rest(waiting).await.contains("result"));
}
