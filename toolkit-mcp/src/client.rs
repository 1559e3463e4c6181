//! The side that calls the tools of other servers.
//!
//! An [`McpBackend`] is one server, started as a process or reached over HTTP; [`McpServers`] reads those that other
//! hosts are configured with. Its tools become part of a catalogue as those of any [`Backend`] do: each is checked when
//! it is listed, stands in a namespace that is called like the server, and is called through the dispatcher's limits.
//!
//! ```no_run
//! use serde_json::json;
//! use toolkit::backend::Backends;
//! use toolkit::{Catalog, Dispatcher};
//! use toolkit_mcp::client::{McpBackend, Program};
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
//! # What is trusted
//!
//! Nothing that a server says. It has no namespace but its own, whatever record its tools carry; a tool that is
//! malformed, or whose texts hide characters, is left out and told as a problem; and what it sends is bounded in time
//! and size. Hints about effects count only if the server is [trusted](McpBackend::trusted) or a
//! [lock](toolkit::backend::Backends::with_lock) holds exactly that contract. A process is given few variables of the
//! environment, those that it is named, and no shell.

mod backoff;
mod call;
mod connect;
mod connection;
mod endpoint;
mod error;
mod event_limit;
mod handler;
mod http;
mod limits;
mod line_reader;
mod lines;
mod link;
mod list;
mod listener;
mod process;
mod program;
mod screen;
mod servers;
mod trace;
mod verbatim;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolkit::ToolError;
use toolkit::backend::{Answer, Backend, BackendCall, Offers};
use toolkit::dispatch::BoxFuture;
use toolkit::tool::BackendKind;

pub use self::endpoint::{Endpoint, InvalidEndpoint};
use self::limits::Limits;
use self::link::Link;
pub use self::program::Program;
pub use self::servers::{InvalidServers, McpServers, RejectedServer};
pub use self::trace::TraceContext;

/// An MCP server, as a [`Backend`].
///
/// It connects when it is first needed, or by [`Backend::start`]. Where the connection is lost, what was called fails with
/// [`ErrorKind::Unavailable`](toolkit::call::ErrorKind::Unavailable), and the next call connects again, at growing
/// intervals if that keeps failing. A call that finds the server gone waits for it for five seconds at most, and then
/// fails with a retryable error. The tools stay in the catalog
/// meanwhile, for as long as [`Backends::with_grace`](toolkit::backend::Backends::with_grace) says.
///
/// Clones are one server, so that a host can keep one and register another. Dropping the last ends the connection and
/// the process, as [`Backend::stop`] does.
#[derive(Clone)]
pub struct McpBackend {
    name: Arc<str>,
    target: Arc<Target>,
    limits: Limits,
    is_trusted: bool,
    link: Arc<Link>,
}

/// Where a server is.
pub(crate) enum Target {
    Stdio(Program),
    Http(Endpoint),
}

impl McpBackend {
    /// A server that is a program, spoken with over its standard input and output.
    #[must_use]
    pub fn stdio(name: &str, program: impl Into<Program>) -> Self {
        Self::new(name, Target::Stdio(program.into()))
    }

    /// A server that is reached over HTTP (MCP's streamable HTTP).
    #[must_use]
    pub fn http(name: &str, endpoint: Endpoint) -> Self {
        Self::new(name, Target::Http(endpoint))
    }

    fn new(name: &str, target: Target) -> Self {
        let limits = Limits::default();
        Self { name: name.into(), target: Arc::new(target), limits, is_trusted: false, link: Arc::default() }
    }

    /// Trusts the hints of this server's tools, such as `readOnlyHint`, and their tags and timeouts; see
    /// [`Backend::is_trusted`]. Only for a server whose code the host has reviewed.
    #[must_use]
    pub fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    /// How long one call may take: five minutes by default. The limits of a dispatcher hold as well.
    #[must_use]
    pub fn timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.call = limit)
    }

    /// How long it may take to connect, and to list a page of tools: 30 s by default.
    #[must_use]
    pub fn start_timeout(self, limit: Duration) -> Self {
        self.limited(|limits| limits.start = limit)
    }

    /// How long a message of the server may be: 16 MiB by default, which over HTTP is also the most.
    #[must_use]
    pub fn max_message_bytes(self, n_bytes: usize) -> Self {
        self.limited(|limits| limits.message_bytes = n_bytes)
    }

    /// How many tools the server may list: 10,000 by default.
    #[must_use]
    pub fn max_tools(self, n_tools: usize) -> Self {
        self.limited(|limits| limits.tools = n_tools)
    }

    /// The same server under other limits, with a connection of its own.
    fn limited(mut self, change: impl FnOnce(&mut Limits)) -> Self {
        change(&mut self.limits);
        self.link = Arc::default();
        self
    }
}

impl Backend for McpBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Mcp
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    fn tools(&self) -> BoxFuture<'_, Result<Offers, ToolError>> {
        Box::pin(self.link.listing(self, list::offers(self)))
    }

    /// Waits until the server announces that its tools have changed, is lost, or is connected to anew, since they were
    /// listed last. While they cannot be listed, or the server is lost, it is connected to again, at growing intervals.
    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.link.changed(self))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(call::run(self, call))
    }

    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async { self.link.start(self).await })
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(async {
            self.link.stop().await;
            Ok(())
        })
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        Box::pin(list::probe(self))
    }
}

/// What a model is told that it was: where the server is, is nothing to it.
impl fmt::Display for McpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the MCP server `{}`", self.name.escape_debug())
    }
}

impl fmt::Debug for McpBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target: &dyn fmt::Debug = match &*self.target {
            Target::Stdio(program) => program,
            Target::Http(endpoint) => endpoint,
        };
        f.debug_struct("McpBackend").field("name", &self.name).field("target", target).finish_non_exhaustive()
    }
}
