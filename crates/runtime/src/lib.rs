//! What the servers, clients and workers of `toolkit-mcp-server`, `toolkit-mcp-client`, `toolkit-otc`, `toolkit-code`,
//! `toolkit-nats` and `toolkit-durable` need once.
//!
//! This crate is an implementation detail of those and has no stable API. Programs with tools use those crates, and
//! meet only [`Limits`] and [`TrustedProxies`] of this one.
//!
//! With the feature `server`:
//!
//! - [`HttpServer`] is the entry of all HTTP servers: it accepts connections until shutdown is requested, checks the hosts of
//!   requests ([`HostGuard`]), and reads their bodies, which share one budget of memory. [`Limits`] bounds the connections,
//!   bodies and responses.
//! - [`RequestHead`] is the head of a request with its connection, and [`Rejection`] the reason why a request does not reach
//!   its protocol.
//! - [`TrustedProxies`] finds the addresses of clients behind proxies.
//!
//! With the feature `calls`, which `server` enables, and which servers of other protocols use:
//!
//! - [`spawn_tool`] runs tools on threads without I/O, or with [`ToolPolls`] on a thread that the server can replace, and
//!   [`CallLimiter`] bounds the number of concurrent calls.
//! - [`ShutdownSignals`] waits for SIGTERM, SIGHUP and Ctrl-C.
//!
//! For clients:
//!
//! - [`Authorities`] (feature `client`) holds the certificate authorities that a client trusts, and [`Connections`]
//!   (`connections`) the connections to a server.
//!
//! For all of them, one implementation of each job:
//!
//! - [`Replacement`] (`files`) replaces a file as a whole, and [`read_regular_file`] reads one of bounded size.
//! - [`EventReader`] reads server-sent events, and [`LineReader`] (`lines`) the lines of another process.
//! - [`SealingKey`] (`seal`) encrypts what others store.
//! - [`ObservedRequest`] (`telemetry`) is the span of a request of MCP, and with `opentelemetry` a part of a trace.
//! - [`Jwt`] (`jwt`) reads the parts of a token.
//! - [`retry_after`] (`retry-after`), [`media_type`] and [`is_loopback`] read headers and hosts.
//! - [`matches_wildcard`] compares names with patterns.
//! - [`Mutex`] ignores panics of other threads.
//! - [`SharedBudget`] is a budget of which each caller has a share.
//!
//! # Threads
//!
//! The tokio runtime that polls [`HttpServer::serve`] accepts connections and runs timers and tasks. Threads of this crate poll
//! the connections, within that runtime, and run the first poll of a tool that a connection has begun. A step that takes longer
//! than a millisecond has stalled: another thread takes over the connections, and the next calls of the tool run on the threads of
//! [`spawn_tool`], like all later polls of tools. A tool that sleeps or spins therefore occupies one thread and nothing else.
//!
//! # Limits
//!
//! A connection on which the server waits for its client (to send a request or a body, or to read a response) can be
//! evicted to make room for another one. A connection cannot be evicted while its request runs or while it carries an
//! event stream; the number of both is bounded below the number of connections. See [`Limits`].
#![forbid(unsafe_code)]

#[cfg(feature = "calls")]
mod calls;
mod client_network;
#[cfg(feature = "connections")]
mod connections;
mod events;
#[cfg(feature = "files")]
mod files;
mod headers;
#[cfg(feature = "jwt")]
mod jwt;
#[cfg(feature = "lines")]
mod lines;
mod mutex;
#[cfg(feature = "seal")]
mod seal;
#[cfg(feature = "server")]
mod server;
mod shared_budget;
#[cfg(feature = "telemetry")]
mod telemetry;
#[cfg(feature = "client")]
mod tls;
mod wildcard;

#[cfg(feature = "calls")]
pub use self::calls::*;
pub use self::client_network::client_network;
#[cfg(feature = "connections")]
pub use self::connections::*;
pub use self::events::*;
#[cfg(feature = "files")]
pub use self::files::*;
pub use self::headers::*;
#[cfg(feature = "jwt")]
pub use self::jwt::*;
#[cfg(feature = "lines")]
pub use self::lines::*;
pub use self::mutex::Mutex;
#[cfg(feature = "seal")]
pub use self::seal::*;
#[cfg(feature = "server")]
pub use self::server::*;
pub use self::shared_budget::{BudgetExceeded, BudgetShare, SharedBudget};
#[cfg(feature = "telemetry")]
pub use self::telemetry::*;
#[cfg(feature = "client")]
pub use self::tls::{Authorities, ClientConfig, PemError, certificate_failure};
pub use self::wildcard::matches_wildcard;
