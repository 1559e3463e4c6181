//! Tests of the public interface of `toolkit-mcp-server`.

mod asking;
mod auth;
mod server;
mod tasks;
