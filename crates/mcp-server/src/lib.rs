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
//! | `app`, `resource_set`, `resource_templates`, `resource_directory`, `skill_set`, `tool_skills` | providers of resources |
//! | `proxy`, `proxied`, `proxy_uri`, `listed_names` | tools and resources of backends, and their names |
//! | `view` | what a part of the callers sees |
//! | `observe`, `metrics`, `status` | the span and audit line of a request; reports for operators |
//! | `stdio`, `http` | transports |
//!
//! # The walk of a call
//!
//! A call is carried by `Received`, `Routed`, `Call`, `Reply` and `Response`, in this order. Each of its steps is named by a
//! function, with the file in which it stands. A step is called by an earlier one.
//!
//! Over HTTP:
//!
//! 1. `run_in_phases` (`crates/mcp-server/src/http/listening.rs`) serves until the end of the drain.
//! 2. `serve` (`crates/mcp-server/src/http/service.rs`) says what responds to a request.
//! 3. `serve` (`crates/runtime/src/server/serve.rs`) accepts a connection and reads the head of a request.
//! 4. `respond` (`crates/mcp-server/src/http/service.rs`) checks the request and finds its path.
//! 5. `admit` (`crates/mcp-server/src/http/auth.rs`) authenticates the caller, and applies the rate limit.
//! 6. `message` (`crates/mcp-server/src/http/receive.rs`) leads from the body to the response.
//! 7. `read` (`crates/runtime/src/server/body.rs`) reads the body, within the memory for all bodies.
//! 8. `parse_message` (`crates/runtime/src/calls/tool_threads.rs`) parses a large body on a thread for tools.
//!
//! Over stdio:
//!
//! 1. `serve` (`crates/mcp-server/src/stdio.rs`) starts the threads of the pipes.
//! 2. `start` (`crates/mcp-server/src/stdio/turns.rs`) reads in turns, and runs the tools of the calls that were read.
//! 3. `read` (`crates/mcp-server/src/stdio/reader.rs`) reads lines, within the memory for all requests.
//!
//! Over both, until the tool runs:
//!
//! 1. `parse` (`crates/mcp/src/message.rs`) finds the fields of the message.
//! 2. `route` (`crates/mcp-server/src/methods.rs`) finds the method, and the tool by its name.
//! 3. `check_tools` (`crates/mcp-server/src/peer.rs`) decides whether the token of the caller grants the tool.
//! 4. `begin` (`crates/mcp-server/src/call/begin.rs`) reads what the request declares, and registers it for cancellation.
//! 5. `Call` (`crates/mcp-server/src/call.rs`) is what the call consists of from then on.
//!
//! Over HTTP, the sink of its messages:
//!
//! 1. `respond` (`crates/mcp-server/src/http/response.rs`) responds with JSON, or with an event stream if a message comes first.
//!
//! Over stdio, the sink of its messages:
//!
//! 1. `flush` (`crates/mcp-server/src/stdio/output.rs`) writes the messages and the response of `respond` in `reader.rs`.
//! 2. `collect` (`crates/runtime/src/calls/tool_polls.rs`) lets the thread that has read the call run its tool.
//!
//! Over both, to the function and back:
//!
//! 1. `run` (`crates/mcp-server/src/call/run.rs`) runs the call to its response, and sends its messages to the sink.
//! 2. `try_acquire` (`crates/runtime/src/calls/call_limit.rs`) takes a permit.
//! 3. `spawn_tool` (`crates/runtime/src/calls/tool_threads.rs`) runs the tool where it may block.
//! 4. `call_tool` (`crates/mcp-server/src/call/tool.rs`) calls the tool, and makes a response of its result.
//! 5. `call_with` (`toolkit/src/dispatch/prepared.rs`) is the interface of the dispatcher for a resolved tool.
//! 6. `run_layered` (`toolkit/src/dispatch/pipeline.rs`) passes the layers, selects the function and admits the call.
//! 7. `Run` (`toolkit/src/dispatch/function.rs`) is the code of a function, generated by the macro: its arguments are decoded.
//! 8. `tool` (`toolkit-derive/src/expand.rs`) generates it: the host injects the other parameters, and the function runs.
//! 9. `encode` (`toolkit/src/dispatch/encode.rs`) writes and validates what it returns.
//! 10. `write_result` (`toolkit/src/mcp/tools_call.rs`) writes the result of MCP.
//! 11. `response` (`crates/mcp/src/rpc.rs`) writes the response of JSON-RPC around it, which then returns through `run`.
//!
//! What ends a call before its tool does stands in `call/early_end.rs`, and the messages of a call in `call/messages.rs`.
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
#[cfg(feature = "skills")]
mod skill_set;
mod state;
mod status;
mod stdio;
mod subscriptions;
mod task_requests;
mod tasks;
#[cfg(feature = "skills")]
mod tool_skills;
mod view;

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
pub use self::http::{Admission, RouteRequest};
#[cfg(feature = "jwt")]
pub use self::http::{Algorithm, Jwks, JwksError, Jwt, JwtIssuer};
#[cfg(feature = "http")]
pub use self::http::{
    Body, Http, HttpError, Listening, Route, ServerCard, ServerCardError, Service, TokenError, Verify,
};
#[cfg(feature = "proxy")]
pub use self::proxy::{LeftOut, Proxy};
pub use self::request::{Caller, MissingCapability, Request};
pub use self::resource_directory::DirectoryResources;
pub use self::resource_set::ResourceSet;
pub use self::resource_templates::{TemplateResources, UriParams, UriTemplateError};
pub use self::served::ListedTool;
pub use self::served::ServeError;
pub use self::server::Server;
#[cfg(feature = "skills")]
pub use self::skill_set::SkillSet;
pub use self::status::{ServedBackend, Status};
pub use self::tasks::{TaskDirectory, TaskStore};
pub use self::view::View;
