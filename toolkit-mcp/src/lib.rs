//! The Model Context Protocol for the tools of a program.
//!
//! With the feature `server`, a [`Server`](server::Server) lets any client of the protocol list and call what a
//! [`Dispatcher`](toolkit::Dispatcher) runs, over stdio and over HTTP.
//!
//! With the feature `client`, an [`McpBackend`](client::McpBackend) makes the tools of any server of the protocol part of
//! a catalogue.
//!
//! # Why there is no library of the protocol underneath the server
//!
//! What a server of tools says fits into a page: six methods, two revisions, one JSON object a message. `toolkit` reads
//! and writes the two that matter as bytes, so that the arguments of a call are read once, by what checks them. The
//! libraries there are read every message into trees of their own first, and write every result from one; that costs
//! more than the call. So stdio is a loop over lines, HTTP is hyper and one function, and what they share is JSON-RPC.
//!
//! A client is another matter: it has to get along with what others wrote, in every revision, with sessions and streams
//! that break off, and waits for them anyway. There the protocol's own library is underneath, and none of its types is in
//! a public signature.
#![forbid(unsafe_code)]

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;
