//! An MCP client that adds the tools of other servers to a catalog.
//!
//! An [`McpBackend`] is a server that runs as a child process or is reached over HTTP. [`McpServers`] reads the
//! configuration files of other MCP hosts. The tools join a catalog like those of any
//! [`Backend`](toolkit::backend::Backend): each is validated when it is listed, has the name of the server as its
//! namespace, and is called within the limits of the dispatcher.
//!
//! ```no_run
//! use serde_json::json;
//! use toolkit::{Catalog, Dispatcher};
//! use toolkit_backends::Backends;
//! use toolkit_mcp_client::{McpBackend, Program};
//!
//! # async fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let backends = Backends::new();
//! backends.register(McpBackend::stdio("time", Program::new("uvx").arg("mcp-server-time")))?;
//!
//! let collected = backends.collect(Catalog::linked()?).await;
//! for diagnostic in &collected.diagnostics {
//!     eprintln!("left out: {diagnostic}");
//! }
//! let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
//! dispatcher.call("time:get_current_time", json!({ "timezone": "Europe/Vienna" })).await?;
//! # Ok(()) }
//! ```
//!
//! With the feature `oauth`, the client logs in at servers that require it.
//!
//! # Trust
//!
//! The client does not trust the server. The tools of a server are always in the namespace of the server, whatever
//! their metadata contains. A malformed tool, or one whose texts hide characters, is left out and reported as a
//! diagnostic. All messages have limits of time and size. Annotations of effects count only if the server is
//! [trusted](McpBackend::trusted) or a [lock file](toolkit_backends::Backends::with_lock) contains exactly this
//! contract. A child process starts without a shell and inherits only a few environment variables.
//!
//! | module | contains |
//! | --- | --- |
//! | `backend` | the public type, a server as a backend |
//! | `remote`, `endpoint`, `backoff` | the name, the limits and the address of a server, and the waits between attempts |
//! | `link`, `connect`, `connection`, `history` | the current connection and those of single sessions of clients, its negotiation, its requests, and its past |
//! | `server_info` | what a server declares about itself |
//! | `peer`, `subscription` | the open requests of a connection and the messages of its server, and requests for notifications |
//! | `outgoing`, `meta`, `incoming`, `raw`, `failure` | requests and their `_meta`, messages of servers, the texts in them, and failures of requests |
//! | `stdio`, `process` | the stdio transport, and the child process with its command line |
//! | `redaction` | the secrets that a server may repeat, out of errors and the log |
//! | `http`, `authorizer` | the HTTP transports, and the source of their tokens |
//! | `tool_rules` | which tools of a server are served, and what the host changes in them |
//! | `tool_names`, `tool_form` | their names and their form, which other programs accept |
//! | `list`, `pages`, `call`, `call_params`, `tasks`, `task_watch`, `resources`, `skills`, `prompts`, `caller` | requests for tools, resources and prompts, and what they pass on from and to the caller |
//! | `questions` | what servers ask the users of calls |
//! | `watches`, `subscriber` | the resources that clients watch, and the subscriptions of a connection to them |
//! | `tool_error`, `texts` | failures of connections and errors of servers as tool errors |
//! | `servers` | configuration files |
//! | `oauth` | logins |
//! | `observe`, `status` | spans and measurements; the status of a server of `toolkit-mcp-server` |
//!
//! # Why the client does not use an MCP library
//!
//! A proxy passes on what a server has sent: each field, in its order, with the digits of its numbers. The types of a library
//! lack the fields that they do not know, and servers do not keep to the protocol. The client therefore reads a message as
//! texts of JSON, of which it parses what it needs. The messages themselves are those of `toolkit-mcp`, as for the server.
#![forbid(unsafe_code)]

mod address_policy;
mod authorizer;
mod backend;
mod backoff;
mod call;
mod call_params;
mod caller;
mod connect;
mod connection;
mod endpoint;
mod failure;
mod history;
mod http;
mod incoming;
mod link;
mod list;
mod message_memory;
mod meta;
#[cfg(feature = "oauth")]
mod oauth;
mod observe;
mod outgoing;
mod pages;
mod peer;
mod process;
mod prompts;
mod questions;
mod raw;
mod redaction;
mod remote;
mod resources;
mod server_info;
mod servers;
mod skills;
mod status;
mod stdio;
mod subscriber;
mod subscription;
mod task_watch;
mod tasks;
mod texts;
mod tool_error;
mod tool_form;
mod tool_names;
mod tool_rules;
mod watches;

pub use self::backend::McpBackend;
#[cfg(feature = "oauth")]
pub use self::endpoint::CredentialSource;
pub use self::endpoint::{ConfigError, Endpoint};
#[cfg(feature = "oauth")]
pub use self::oauth::{
    FileTokens, Login, LoginState, MemoryTokens, OAuth, OAuthError, TokenLock, TokenStore, TokenStoreError,
};
pub use self::process::Program;
pub use self::servers::{ConfiguredServers, McpServers, RejectedServer, ServerChanges};
pub use self::status::fetch_status;
