//! Tools over HTTP, in the call format of Open Tool Calling (OXP 1.0): both sides.
//!
//! [`Server`] offers the tools of a [`Dispatcher`](toolkit::Dispatcher) to other programs. [`OtcBackend`] is what such
//! another program registers among its [`Backends`](toolkit::backend::Backends), so that it calls the tools of the
//! first as it calls its own.
//!
//! ```
//! use serde_json::json;
//! use toolkit::backend::Backends;
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_otc::{Auth, OtcBackend, Server};
//!
//! /// Adds two integers.
//! #[tool(namespace = "Math", version = "1.0.0")]
//! fn add(
//!     /// The first addend.
//!     a: i64,
//!     /// The second addend.
//!     b: i64,
//! ) -> i64 {
//!     a + b
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! // One program provides the tool.
//! let server = Server::new(Dispatcher::new(Catalog::linked()?)?).auth(Auth::api_key("s3cr3t"));
//! assert!(server.published().diagnostics().is_empty());
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
//! let url = format!("http://{}", listener.local_addr()?);
//! tokio::spawn(server.serve(listener, std::future::pending()));
//!
//! // Another calls it.
//! let backends = Backends::new();
//! backends.register(OtcBackend::new("calculator", &url)?.auth(Auth::api_key("s3cr3t")))?;
//! let collected = backends.collect(Catalog::new([])?).await;
//! let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
//! let result = dispatcher.call("Math:add", json!({ "a": 1, "b": 2 })).await?;
//! assert_eq!(result.value(), 3);
//! # Ok(()) })
//! # }
//! ```
//!
//! # What is said in this format, and what is not
//!
//! A tool is published as a [`Definition`], whose id is `Toolkit.Tool@1.0.0`. [`Naming`] says what happens to tools
//! without a namespace or a version, which the format has no place for. What cannot be said is a
//! [`Diagnostic`](toolkit::catalog::Diagnostic) of [`Published`], and such a tool is not offered.
//!
//! A result is one JSON value: of a tool that returns content only it is the content, and content beside data stays
//! behind. Of an error goes what a model may read; what caused it stays here.
//!
//! # Events
//!
//! The format has no place for progress, nor for a result in parts. A client of this crate that wants to hear of either
//! asks for `text/event-stream`, and a server of this crate then answers with server-sent events, each of them one JSON
//! object `{"kind", "toolId", "data"}`: `progress` and `chunk` while the tool runs, and at the end `done` or `error` with
//! what the `result` of an answer would be. Others need not know of this: a server that answers with JSON, and a client
//! that does not ask, do as the format says.
//!
//! # Features
//!
//! `client` is [`OtcBackend`], `server` is [`Server`]; both are on by default. Definitions need neither, and without
//! both nothing here opens a connection.
#![forbid(unsafe_code)]
// One side alone does not use all that both share.
#![cfg_attr(not(all(feature = "client", feature = "server")), allow(dead_code))]

mod absent;
#[cfg(feature = "http")]
mod auth;
#[cfg(feature = "client")]
mod client;
mod definition;
mod id;
mod published;
#[cfg(feature = "server")]
mod server;
#[cfg(feature = "http")]
mod trace;
mod wire;

#[cfg(feature = "http")]
pub use self::auth::{Auth, WeakSecret};
#[cfg(feature = "client")]
pub use self::client::{CallId, InvalidCertificate, InvalidUrl, OtcBackend};
pub use self::definition::{Definition, InvalidDefinition, Naming};
pub use self::id::{InvalidOtcId, OtcId};
pub use self::published::Published;
#[cfg(feature = "server")]
pub use self::server::{Limits, Readiness, Server};
#[cfg(feature = "http")]
pub use self::trace::TraceId;
