//! An MCP client that adds the tools of other servers to a catalog.
//!
//! An [`McpBackend`] is a server that runs as a child process or is reached over HTTP. [`McpServers`] reads the
//! configuration files of other MCP hosts. The tools join a catalog like those of any
//! [`Backend`](toolkit::backend::Backend): each is validated when it is listed, has the name of the server as its
//! namespace, and is called within the limits of the dispatcher.
//!
//! ```no_run,standalone_crate
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
//! | `remote`, `endpoint` | the name, the limits and the address of a server |
//! | `link`, `connect`, `connection`, `history` | the current connection and those of single sessions of clients, its negotiation, its requests, and its past |
//! | `lines`, `process` | the stdio transport, and the child process with its command line |
//! | `http`, `legacy_sse`, `exchange`, `authorizer` | the HTTP transport, that of revision 2024-11-05, their failures and events, and the source of their tokens |
//! | `screen`, `verbatim`, `bounded_list` | incoming messages before `rmcp` handles them, fields that it does not know, and long lists |
//! | `tool_rules` | which tools of a server are served, and in which form |
//! | `list`, `call`, `tasks`, `resources`, `prompts`, `caller` | requests for tools, resources and prompts, and what they pass on from and to the caller |
//! | `questions` | what servers ask the users of calls |
//! | `watches` | subscriptions to resources |
//! | `tool_error`, `texts` | connection and protocol errors as tool errors |
//! | `servers` | configuration files |
//! | `oauth` | logins |
//! | `observe`, `status` | spans and measurements; the status of a server of `toolkit-mcp-server` |
//!
//! # Why the client uses an MCP library
//!
//! A client has to work with servers of all revisions, with sessions and with streams that break off, and it waits for
//! the server anyway. The client therefore uses the `rmcp` crate. No type of `rmcp` is part of a public signature.
#![forbid(unsafe_code)]

mod authorizer;
mod backend;
mod bounded_list;
mod call;
mod caller;
mod connect;
mod connection;
mod endpoint;
mod exchange;
mod history;
mod http;
mod legacy_sse;
mod lines;
mod link;
mod list;
#[cfg(feature = "oauth")]
mod oauth;
mod observe;
mod process;
mod prompts;
mod questions;
mod remote;
mod resources;
mod screen;
mod servers;
mod status;
mod tasks;
mod texts;
mod tool_error;
mod tool_rules;
mod verbatim;
mod watches;

pub use self::backend::McpBackend;
#[cfg(feature = "oauth")]
#[doc(hidden)]
pub use self::endpoint::CredentialSource;
pub use self::endpoint::{ConfigError, Endpoint};
#[cfg(feature = "oauth")]
pub use self::oauth::{
    FileTokens, Login, LoginState, MemoryTokens, OAuth, OAuthError, TokenLock, TokenStore, TokenStoreError,
};
pub use self::process::Program;
pub use self::servers::{ConfiguredServers, McpServers, RejectedServer, ServerChanges};
pub use self::status::fetch_status;
