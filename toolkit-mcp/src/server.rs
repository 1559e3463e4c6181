//! An MCP server for the tools of a dispatcher.
//!
//! ```no_run,standalone_crate
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use toolkit::{Catalog, Dispatcher};
//! use toolkit_mcp::server::Server;
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! Server::new(dispatcher)?.http().serve("127.0.0.1:8000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Server`] supports revision 2026-07-28, whose requests are self-contained, and the revisions with an `initialize`
//! request, back to 2024-11-05. It keeps no state per client except for running calls.
//!
//! - Invalid arguments and errors of a tool are results with `isError`, which the model reads. An unknown tool is a
//!   JSON-RPC error (-32602). The text of an unexpected error is logged and not sent.
//! - A client cancels a call with `notifications/cancelled` or by closing its connection. The server cancels a call
//!   that exceeds [`ServerBuilder::call_timeout`].
//! - [`Server::replace`] swaps the tools while the server runs and notifies subscribed clients. A [`Proxy`] does so
//!   with the tools of backends, such as other MCP servers, whenever they change.
//! - [`ServerBuilder::resources`] adds resources that clients read by URI, such as those that results link to.
//! - Above the threshold [`ServerBuilder::list_at_most`], the server lists `search_tools`, `describe_tool` and
//!   `call_tool` instead of all tools.

mod app;
mod ask;
mod builder;
mod call;
mod filter;
mod find;
mod headers;
mod http;
mod initialize;
mod json_text;
mod late;
mod listen;
mod logging;
mod message;
mod meta;
mod methods;
mod metrics;
mod nested;
mod peer;
mod proxied;
mod proxy;
mod proxy_uri;
mod request;
mod resources;
mod running;
mod served;
mod state;
mod status;
mod stdio;
mod subscriptions;
mod task_requests;
mod tasks;

/// The networks of proxies in front of the server, and the error of a text that is none.
pub use toolkit_http::{NetworkError, TrustedProxies};

pub use self::app::App;
pub use self::ask::{StateKey, UsedStates, WeakKeyError};
pub use self::builder::ServerBuilder;
pub use self::filter::{Filter, Hint, Rule, RuleError};
pub use self::find::search_tools;
pub use self::http::{Admission, Body, Http, HttpError, Listening, Route, RouteRequest, Service, TokenError, Verify};
#[cfg(feature = "jwt")]
pub use self::http::{Algorithm, Jwks, JwksError, Jwt, JwtIssuer};
pub use self::proxy::{LeftOut, Proxy};
pub use self::request::{Caller, MissingCapability, Request};
pub use self::served::{ListedTool, Listing, ServeError};
pub use self::state::Server;
pub use self::status::{ServedBackend, Status};
pub use self::tasks::{TaskDirectory, TaskStore};
