//! A server and a client for Open Tool Calling (OXP 1.0), a protocol for calling tools over HTTP.
//!
//! [`Server`] serves the tools of a [`Dispatcher`](toolkit::Dispatcher). [`OtcBackend`] adds the tools of such a server
//! to the `Backends` of another program, which then calls them like its own.
//!
//! ```standalone_crate
//! use serde_json::json;
//! use toolkit::{Catalog, Dispatcher, tool};
//! use toolkit_backends::Backends;
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
//! # Limitations of the format
//!
//! A tool is published as a [`Definition`] with an id such as `Toolkit.Tool@1.0.0`. [`Naming`] provides defaults for
//! tools without a namespace or a version, which an id requires. A tool that the format cannot express is not served;
//! [`Published`] has a [`Diagnostic`](toolkit::catalog::Diagnostic) for it.
//!
//! A result is one JSON value. If a tool returns only content, that is the value; content in addition to data is
//! dropped. Errors contain only what a model may read, not their causes.
//!
//! # Events
//!
//! The format has neither progress nor partial results. As an extension, a client of this crate that needs them accepts
//! `text/event-stream`, and a server of this crate then responds with server-sent events. Each event is a JSON object
//! `{"kind", "toolId", "data"}`: `progress` and `chunk` while the tool runs, then `done` or `error` with the `result`
//! of a regular response. Other clients and servers are not affected.
//!
//! # Features
//!
//! `client` enables [`OtcBackend`] and `server` enables [`Server`]; both are on by default. Definitions need neither.
//! Without both, the crate opens no connections.
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `definition` | a tool in the format, written and read |
//! | `published` | a catalog as it is listed |
//! | `wire`, `auth` | the messages, and the authentication of a caller |
//! | `server` | `tools_call` runs a call, also with events, and `reply` turns its outcome into a response; `dedup` runs each call id once |
//! | `client` | a backend that calls the tools of a server |
//! | `error` | the error of all of these |
#![forbid(unsafe_code)]
// With one feature only, some shared items are not used.
#![cfg_attr(not(all(feature = "client", feature = "server")), allow(dead_code))]

#[cfg(feature = "http")]
mod auth;
#[cfg(feature = "client")]
mod client;
mod definition;
mod error;
mod published;
#[cfg(feature = "server")]
mod server;
mod wire;

#[cfg(feature = "http")]
pub use self::auth::Auth;
#[cfg(feature = "client")]
pub use self::client::{CallId, OtcBackend};
pub use self::definition::{Definition, Naming, OtcId};
pub use self::error::OtcError;
pub use self::published::Published;
#[cfg(feature = "server")]
pub use self::server::{Limits, Readiness, Server, Service};
#[cfg(feature = "http")]
pub use self::wire::TraceId;
/// The networks of proxies in front of a server, and the error of a text that is none.
#[cfg(feature = "server")]
#[doc(no_inline)]
pub use toolkit_runtime::{NetworkError, TrustedProxies};
