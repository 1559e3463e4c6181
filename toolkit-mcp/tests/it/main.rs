//! Tests of the public interface of `toolkit-mcp`.

mod auth;
