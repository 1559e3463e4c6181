//! An MCP server for the tools of a dispatcher.
//!
//! ```no_run,standalone_crate
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! use toolkit::{Catalog, Dispatcher};
//! use toolkit_mcp_server::Server;
//!
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! Server::new(dispatcher)?.http().serve("127.0.0.1:8000").await?;
//! # Ok(())
//! # }
//! ```
//!
//! A [`Server`] supports revision 2026-07-28, whose requests are self-contained, and the revisions with an `initialize`
//! request, back to 2024-11-05. Between the requests of a client it keeps
//! only what the client asked it to keep: calls that run, tasks, subscriptions, the level of log messages, and the end of
//! a session.
//!
//! - Invalid arguments and errors of a tool are results with `isError`, which the model reads. An unknown tool is a
//!   JSON-RPC error (-32602). The text of an unexpected error is logged and not sent.
//! - A client cancels a call with `notifications/cancelled` or by closing its connection. The server cancels a call
//!   that exceeds [`ServerBuilder::call_timeout`].
//! - [`Server::replace`] swaps the tools while the server runs and notifies subscribed clients. A [`Proxy`] does so
//!   with the tools of backends, such as other MCP servers, whenever they change.
//! - [`ServerBuilder::resources`] adds resources that clients read by URI, such as those that results link to.
//! - The prompts of the catalog are listed, run and completed.
//! - Above the threshold [`ServerBuilder::list_at_most`], the server lists `search_tools`, `describe_tool` and
//!   `call_tool` instead of all tools.
//!
//! With the feature `jwt`, the server verifies JWT access tokens of an authorization server. The default features are
//! `http`, `search` (the three tools above), `proxy` and `ask` (questions to users of clients of revision 2026-07-28). A
//! server for stdio needs none of them: with `default-features = false`, it builds no hyper, no index and no encryption.
//!
//! | module | contains |
//! | --- | --- |
//! | `server`, `builder`, `state` | the server, its settings with their defaults (limits, times, sizes of pages), and what its clones share |
//! | `methods`, `headers`, `initialize` | dispatch of messages to methods, what HTTP repeats of them, and the description of the server |
//! | `access`, `reply` | what the token of a caller grants, and the messages and the response of a request |
//! | `served`, `find`, `filter` | `tools/list` and its pages, and the search tools that replace a long list |
//! | `call` | `tools/call`, with a table of its stages |
//! | `request`, `peer` | the request and its caller, for tools and for the server, and the running calls of a caller |
//! | `ask`, `logging` | questions to the user of the client, and log messages |
//! | `tasks`, `task_requests` | calls whose clients poll for the result, and requests for them |
//! | `prompt_list`, `prompts` | prompts, and completions of their arguments |
//! | `resources`, `subscriptions`, `listen` | resources of providers, and notifications of changes |
//! | `app`, `resource_set`, `resource_templates`, `resource_directory` | providers of resources |
//! | `proxy`, `proxied`, `proxy_uri`, `listed_names` | tools and resources of backends, and their names |
//! | `observe`, `metrics`, `status` | the span and audit line of a request; reports for operators |
//! | `stdio`, `http` | transports |
//!
//! # Why the server does not use an MCP library
//!
//! A server of tools implements few methods. `toolkit` reads the arguments of a call and writes its result as bytes, so
//! that the arguments are parsed once, by the code that validates them. The available libraries parse each message into
//! a tree first and write each result from one, which costs more than the call. The server therefore needs only a loop
//! over lines for stdio, hyper for HTTP, and JSON-RPC for both.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(all(feature = "ask", feature = "http", feature = "proxy", feature = "search")),
    allow(dead_code, reason = "items that one of these features uses are not marked one by one")
)]

mod access;
mod app;
mod ask;
mod builder;
mod call;
mod filter;
mod find;
mod headers;
#[cfg(feature = "http")]
mod http;
mod initialize;
mod listed_names;
mod listen;
mod logging;
mod methods;
mod metrics;
mod observe;
mod peer;
mod prompt_list;
mod prompts;
mod proxied;
#[cfg(feature = "proxy")]
mod proxy;
mod proxy_uri;
mod reply;
mod request;
mod resource_directory;
mod resource_set;
mod resource_templates;
mod resources;
mod served;
mod server;
mod state;
mod status;
mod stdio;
mod subscriptions;
mod task_requests;
mod tasks;

/// The networks of proxies in front of the server, and the error of a text that is none.
#[cfg(feature = "http")]
#[doc(no_inline)]
pub use toolkit_runtime::{NetworkError, TrustedProxies};

pub use self::app::App;
#[cfg(feature = "ask")]
pub use self::ask::{StateKey, UsedStates, WeakKeyError};
pub use self::builder::ServerBuilder;
pub use self::filter::{Filter, Hint, Rule, RuleError};
pub use self::find::search_tools;
#[cfg(feature = "http")]
pub use self::http::{Body, Http, HttpError, Listening, Route, Service, TokenError, Verify};
// What pages beside the server need.
#[cfg(feature = "http")]
#[doc(hidden)]
pub use self::http::{Admission, RouteRequest};
#[cfg(feature = "jwt")]
pub use self::http::{Algorithm, Jwks, JwksError, Jwt, JwtIssuer};
#[cfg(feature = "proxy")]
pub use self::proxy::{LeftOut, Proxy};
pub use self::request::{Caller, MissingCapability, Request};
pub use self::resource_directory::DirectoryResources;
pub use self::resource_set::ResourceSet;
pub use self::resource_templates::{TemplateResources, UriParams, UriTemplateError};
pub use self::served::ServeError;
#[doc(hidden)]
pub use self::served::{ListedTool, Listing};
pub use self::server::Server;
pub use self::status::{ServedBackend, Status};
pub use self::tasks::{TaskDirectory, TaskStore};
