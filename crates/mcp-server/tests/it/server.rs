//! A catalogue served over the Model Context Protocol: raw messages over HTTP and pipes, in both eras, and whatever can go
//! wrong on the way. Every response is held against the official schema of its revision.

mod audit;
mod batches;
mod cases;
mod changes;
mod client;
mod coercion;
mod extensions;
mod faults;
mod filter;
mod headers;
mod listing;
mod logging;
mod max_result;
mod messages;
mod openapi;
mod pipes;
mod prompts;
mod proxy;
mod request_parts;
mod resources;
mod safety;
mod search;
mod server_card;
mod skills;
mod tools;
mod turns;
mod views;

use std::future::pending;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use test_support::official::assert_official as assert_fits;
use toolkit::{Catalog, Dispatcher};
use toolkit_mcp_server::{Http, Server};

use self::client::{Client, Response};

const LEGACY: &str = "2025-11-25";
const MODERN: &str = "2026-07-28";

fn dispatcher() -> Dispatcher {
    Dispatcher::new(tools::catalog()).unwrap()
}

fn server() -> Server {
    Server::builder(dispatcher()).named("tests", "1.0.0").build().unwrap()
}

/// Starts a server that runs until the end of the test.
async fn serve(http: Http) -> SocketAddr {
    let listening = http.bind("127.0.0.1:0").await.unwrap();
    let address = listening.local_addr().unwrap();
    tokio::spawn(listening.run(pending()));
    address
}

async fn client() -> Client {
    Client::of(serve(server().http()).await)
}

/// Creates a request of 2026-07-28 with the required `_meta`.
fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = MODERN.into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    request(id, method, params)
}

fn request(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

fn call(name: &str, arguments: Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}

/// Validates a message against the official schema of its kind.
#[track_caller]
fn assert_official(version: &str, message: &Value) {
    let definition = match message {
        message if message.get("method").is_some() => "ServerNotification",
        message if message.get("error").is_some() => "JSONRPCErrorResponse",
        message if message["result"].get("tools").is_some() => "ListToolsResult",
        message if message["result"].get("prompts").is_some() => "ListPromptsResult",
        message if message["result"].get("messages").is_some() => "GetPromptResult",
        message if message["result"].get("completion").is_some() => "CompleteResult",
        message if message["result"].get("resources").is_some() => "ListResourcesResult",
        message if message["result"].get("resourceTemplates").is_some() => "ListResourceTemplatesResult",
        message if message["result"].get("contents").is_some() => "ReadResourceResult",
        message if message["result"].get("content").is_some() => "CallToolResult",
        message if message["result"].get("supportedVersions").is_some() => "DiscoverResult",
        message if message["result"].get("protocolVersion").is_some() => "InitializeResult",
        _ => "JSONRPCResultResponse",
    };
    let instance = if definition.ends_with("Result") { &message["result"] } else { message };
    assert_fits(version, definition, instance);
    let whole = if definition.ends_with("Notification") { "JSONRPCNotification" } else { "JSONRPCMessage" };
    assert_fits(version, whole, message);
}
