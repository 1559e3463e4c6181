//! Tests of the public interface of `toolkit-mcp-client`.

mod client;
mod oauth;
mod tasks_client;
