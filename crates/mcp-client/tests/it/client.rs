//! The MCP client: with the server of `toolkit-mcp-server` over stdio and HTTP, and with a faulty server.

mod apps;
mod callers;
mod calls;
mod configured;
mod damaged;
mod exchanges;
mod faults;
mod fields;
mod forwarded;
mod history;
mod host_files;
mod http_faults;
mod idle;
mod legacy_sse;
mod limits;
mod listing;
mod logged;
mod official;
mod official_day;
mod official_tasks;
mod operators;
mod ours;
mod pages;
mod passed_on;
mod prefix;
mod prompts;
mod questions;
mod raw;
mod raw_results;
mod refused;
mod repaired;
mod reports;
mod resources;
mod sessions;
mod skills;
mod subscriptions;
mod tls;
mod transparent;
mod trust;

use test_support::backends::{call, call_restarted, collected, dispatcher, in_the_end, until};
use test_support::program;
use toolkit_mcp_client::{McpBackend, Program};
use toolkit_mcp_server::ListedTool;

/// Returns the entry of a tool in the list of a server.
fn listed(tools: &[ListedTool], name: &str) -> serde_json::Value {
    let tool = tools.iter().find(|tool| tool.name == name).unwrap();
    serde_json::from_slice(&tool.json).unwrap()
}

/// The faulty server.
fn peer(arguments: &[&str]) -> McpBackend {
    McpBackend::stdio("peer", Program::new(program("fixture_peer")).args(arguments))
}
