//! A process for each session of a client.

use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt as _;
use serde_json::{Value, json};
use test_support::client::{Client, Era, Way as ClientWay};
use toolkit::backend::{Backend, BackendState};
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_mcp_client::{McpBackend, McpServers};
use toolkit_mcp_server::{Proxy, Server, Service};
use tower::ServiceExt as _;

use super::callers::Names;
use super::{in_the_end, program, until};

/// The faulty server as a process for each session, up to `max_sessions`.
fn of_sessions(max_sessions: &Value) -> McpBackend {
    let servers = json!({ "mcpServers": { "peer": {
        "command": program("fixture_peer"), "args": ["usual"], "toolkit": { "perSession": max_sessions },
    } } });
    let servers = McpServers::from_json(&servers.to_string()).unwrap();
    assert_eq!(servers.rejected().next(), None);
    servers.into_iter().next().unwrap()
}

pub(super) async fn proxied(backend: &McpBackend) -> Server {
    let backends = Backends::new();
    backends.register(backend.clone()).unwrap();
    let server = Server::new(Dispatcher::new(Catalog::new([]).unwrap()).unwrap()).unwrap();
    in_the_end(Proxy::new(server.clone(), backends).collect()).await;
    server
}

pub(super) async fn pid(client: &mut Client) -> Result<u64, String> {
    let response = in_the_end(client.call("peer_pid", json!({}), |_| unreachable!("no question"))).await;
    let result = &response["result"];
    let pid = &result["structuredContent"];
    pid.as_u64().or(pid["result"].as_u64()).ok_or_else(|| result["content"][0]["text"].as_str().unwrap().to_owned())
}

/// Returns true while a process runs.
pub(super) fn runs(pid: u64) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_session_has_a_process_of_its_own_until_it_ends() {
    let backend = of_sessions(&json!(true));
    let server = proxied(&backend).await;
    let http = (Era::Legacy, ClientWay::Http);
    let mut ada = Client::connect(&server, http, json!({})).await;
    let mut bob = Client::connect(&server, http, json!({})).await;
    let mut piped = Client::connect(&server, (Era::Legacy, ClientWay::Pipes), json!({})).await;
    let (of_ada, of_bob, shared) =
        (pid(&mut ada).await.unwrap(), pid(&mut bob).await.unwrap(), pid(&mut piped).await.unwrap());
    assert!(of_ada != of_bob && of_ada != shared && of_bob != shared);
    assert_eq!((pid(&mut ada).await, pid(&mut piped).await), (Ok(of_ada), Ok(shared)));
    // Without a session, there is no process to choose.
    let mut modern = Client::connect(&server, (Era::Modern, ClientWay::Http), json!({})).await;
    let error = pid(&mut modern).await.unwrap_err();
    assert!(error.contains("has a connection for each session, and the client has no session"), "{error}");
    if cfg!(target_os = "linux") {
        ada.end_session().await;
        until(|| async { !runs(of_ada) }).await;
        assert!(runs(of_bob) && runs(shared));
        in_the_end(backend.stop()).await.unwrap();
        until(|| async { !runs(of_bob) && !runs(shared) }).await;
    }
    assert_eq!(backend.status().state, BackendState::Stopped);
}

/// Sends a message of a client with a token, and returns the status, the headers and the response.
async fn post(
    service: &Service,
    token: &str,
    session: Option<&str>,
    message: &Value,
) -> (StatusCode, HeaderMap, Value) {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json")
        .header("authorization", format!("Bearer token-{token}"))
        .header("mcp-protocol-version", "2025-11-25");
    if let Some(session) = session {
        request = request.header("mcp-session-id", session);
    }
    let response = service.clone().oneshot(request.body(message.to_string()).unwrap()).await.unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (head.status, head.headers, serde_json::from_slice(&body).unwrap_or_default())
}

async fn begin(service: &Service, token: &str) -> String {
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c", "version": "1" } });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
    let (_, headers, _) = post(service, token, None, &message).await;
    headers["mcp-session-id"].to_str().unwrap().to_owned()
}

/// Returns the id of the process of a session, or the error.
async fn pid_of(service: &Service, token: &str, session: &str) -> Result<u64, String> {
    let params = json!({ "name": "peer_pid", "arguments": {} });
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let (status, _, response) = in_the_end(post(service, token, Some(session), &message)).await;
    let result = &response["result"];
    let pid = &result["structuredContent"];
    let text = result["content"][0]["text"].as_str().or(response["error"]["message"].as_str());
    pid.as_u64().or(pid["result"].as_u64()).ok_or_else(|| format!("{status}: {}", text.unwrap_or_default()))
}

/// Returns the number of processes with this variable in their environment.
fn n_with(variable: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let environments = processes.filter_map(|process| std::fs::read(process.path().join("environ")).ok());
    environments.filter(|text| text.split(|byte| *byte == 0).any(|line| line == variable.as_bytes())).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invented_session_starts_no_process() {
    let variable = format!("INVENTED_SESSIONS_OF={}", std::process::id());
    let (name, value) = variable.split_once('=').unwrap();
    let servers = json!({ "mcpServers": { "peer": {
        "command": program("fixture_peer"), "args": ["usual"], "env": { name: value }, "toolkit": { "perSession": true },
    } } });
    let backend = McpServers::from_json(&servers.to_string()).unwrap().into_iter().next().unwrap();
    let service = proxied(&backend).await.http().verify(Names).into_service();
    let began = begin(&service, "ada").await;
    let own = pid_of(&service, "ada", &began).await.unwrap();
    for n in 0..64 {
        let invented = format!("{n:02x}{}", &began[2..]);
        if invented == began {
            continue;
        }
        let error = pid_of(&service, "ada", &invented).await.unwrap_err();
        assert!(error.starts_with("404 Not Found: unknown session; send `initialize`"), "{error}");
    }
    if cfg!(target_os = "linux") {
        // The one that lists the tools, and that of the session.
        assert_eq!(n_with(&variable), 2);
    }
    assert_eq!(pid_of(&service, "ada", &began).await, Ok(own));
    in_the_end(backend.stop()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_of_a_session_is_that_of_its_caller() {
    let backend = of_sessions(&json!(true));
    let service = proxied(&backend).await.http().verify(Names).into_service();
    let of_ada = begin(&service, "ada").await;
    let own = pid_of(&service, "ada", &of_ada).await.unwrap();
    let of_bob = pid_of(&service, "bob", &of_ada).await.unwrap();
    assert_ne!(own, of_bob);
    let request = Request::delete("/mcp").header("host", "localhost").header("authorization", "Bearer token-bob");
    let request = request.header("mcp-session-id", &of_ada).body(String::new()).unwrap();
    assert_eq!(service.clone().oneshot(request).await.unwrap().status(), StatusCode::NO_CONTENT);
    until(|| async { !runs(of_bob) }).await;
    assert_eq!(pid_of(&service, "ada", &of_ada).await, Ok(own));
    in_the_end(backend.stop()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_cannot_take_the_processes_of_all_and_the_longest_idle_one_ends_first() {
    let backend = of_sessions(&json!(4));
    let service = proxied(&backend).await.http().verify(Names).into_service();
    let mut of_ada = Vec::new();
    for _ in 0..4 {
        let session = begin(&service, "ada").await;
        let pid = pid_of(&service, "ada", &session).await.unwrap();
        of_ada.push((session, pid));
    }
    // Three of four are the share of one caller, whose first process has made room for the last one.
    until(|| async { !runs(of_ada[0].1) }).await;
    assert!(of_ada[1..].iter().all(|(_, pid)| runs(*pid)));
    let of_bob = begin(&service, "bob").await;
    let pid = pid_of(&service, "bob", &of_bob).await.unwrap();
    assert!(of_ada[1..].iter().all(|(_, pid)| runs(*pid)));
    // There is no room left, and the one who has none takes the place of the one who has most.
    let of_carol = begin(&service, "carol").await;
    pid_of(&service, "carol", &of_carol).await.unwrap();
    until(|| async { !runs(of_ada[1].1) }).await;
    assert_eq!(pid_of(&service, "bob", &of_bob).await, Ok(pid));
    // A session whose process has ended gets another one.
    let again = pid_of(&service, "ada", &of_ada[0].0).await.unwrap();
    assert_ne!(again, of_ada[0].1);
    in_the_end(backend.stop()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_is_in_use_makes_no_room() {
    let backend = of_sessions(&json!(1));
    let service = proxied(&backend).await.http().verify(Names).into_service();
    let of_ada = begin(&service, "ada").await;
    let params = json!({ "name": "peer_hang", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let busy = post(&service, "ada", Some(&of_ada), &call);
    let of_bob = begin(&service, "bob").await;
    let refused = async {
        until(|| async { backend.status().state == BackendState::Ready }).await;
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        pid_of(&service, "bob", &of_bob).await.unwrap_err()
    };
    let error = tokio::select! {
        _ = busy => unreachable!("the tool returns nothing"),
        error = refused => error,
    };
    assert!(error.contains("the MCP server `peer` is at its limit of 1 sessions; try again later"), "{error}");
    in_the_end(backend.stop()).await.unwrap();
}
