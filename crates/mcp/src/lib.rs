//! A server and a client for the Model Context Protocol (MCP).
//!
//! With the feature `server`, a [`Server`](server::Server) lists and runs the tools of a
//! [`Dispatcher`](toolkit::Dispatcher) for MCP clients, over stdio and HTTP.
//!
//! With the feature `jwt`, the server verifies JWT access tokens of an authorization server.
//!
//! With the feature `client`, an [`McpBackend`](client::McpBackend) adds the tools of another MCP server to a catalog.
//! With the feature `oauth`, it logs in at servers that require it.
//!
//! # Why the server does not use an MCP library
//!
//! A server of tools implements six methods in two revisions. `toolkit` reads the arguments of a call and writes its
//! result as bytes, so that the arguments are parsed once, by the code that validates them. The available libraries
//! parse each message into a tree first and write each result from one, which costs more than the call. The server
//! therefore needs only a loop over lines for stdio, hyper for HTTP, and JSON-RPC for both.
//!
//! A client has to work with servers of all revisions, with sessions and with streams that break off, and it waits for
//! the server anyway. The client therefore uses the `rmcp` crate. No type of `rmcp` is part of a public signature.
#![forbid(unsafe_code)]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;
