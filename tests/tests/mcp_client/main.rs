//! The MCP client: with the server of this crate over stdio and HTTP, and with a faulty server.

mod calls;
mod configured;
mod damaged;
mod exchanges;
mod faults;
mod fields;
mod followed;
mod forwarded;
mod http_faults;
mod limits;
mod listing;
mod logged;
mod official;
mod official_tasks;
mod operated;
mod ours;
mod proxied;
mod raw;
mod refused;
mod reloaded;
mod replies;
mod resources;
mod subscriptions;
mod tls;
mod trust;

use test_support::backends::{call, collected, dispatcher, in_the_end, until};
use toolkit_mcp::client::{McpBackend, Program};

/// The faulty server.
fn peer(arguments: &[&str]) -> McpBackend {
    McpBackend::stdio("peer", Program::new(env!("CARGO_BIN_EXE_fixture_peer")).args(arguments))
}
