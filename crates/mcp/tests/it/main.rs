//! Tests of the public interface of `toolkit-mcp`.

mod asking;
mod auth;
mod client;
mod oauth;
mod server;
mod tasks;
mod tasks_client;
