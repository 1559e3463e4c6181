//! The HTTP base that `toolkit-mcp` and `toolkit-otc` share.
//!
//! With the feature `server`:
//!
//! - [`serve`] accepts connections and ends gracefully; [`Limits`] says what clients can make the server hold.
//! - [`Connection`] is in the extensions of every request: who is at the other end, and whether the connection was
//!   accepted from the reserve for health checks and authenticated clients.
//! - [`BodyReader`] reads request bodies within one budget for all of them, which counts the bytes received.
//! - [`HostGuard`] refuses requests that were made for other hosts, or by pages of other origins.
//! - [`ToolPool`] runs tools on threads that do no I/O, and [`CallLimiter`] bounds how many run at once.
//! - [`ShutdownSignals`] waits for SIGTERM and Ctrl-C.
//!
//! With the feature `client`, [`Authorities`] says which servers a client trusts.
//!
//! # Threads
//!
//! The threads of the tokio runtime that polls [`serve`] do I/O, measure time, and answer health checks. No tool runs
//! there: every poll of a tool's future, and with it every synchronous function, deserialization and serialization, happens
//! on a thread of a [`ToolPool`]. A tool that sleeps or spins therefore occupies one thread of the pool and nothing else.
//!
//! # Limits
//!
//! A connection on which the server waits for its client (for a request, for a body, or for the client to read) can be
//! evicted to make room for another one. Only connections whose request is running, and event streams, cannot; both are
//! bounded below the number of connections. See [`Limits`].
#![forbid(unsafe_code)]

#[cfg(feature = "client")]
mod client;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "client")]
pub use self::client::*;
#[cfg(feature = "server")]
pub use self::server::*;
