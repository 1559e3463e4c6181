//! The instructions for the model, as the server of the program sends them.

use serde_json::json;
use toolkit::Dispatcher;
use toolkit_mcp_server::{Server, ServerBuilder};

use crate::error::Configure;
use crate::in_process::request;

/// Returns the instructions of the server with these tools. A server that cannot be built has none here: `serve` reports why.
pub(super) async fn of_server(dispatcher: &Dispatcher, configure: Configure<ServerBuilder>) -> Option<String> {
    let server = configure(Server::builder(dispatcher.clone())).ok()?.build().ok()?;
    let response = request(&server, "initialize", &json!({})).await.ok()?;
    response["result"]["instructions"].as_str().map(str::to_owned)
}
