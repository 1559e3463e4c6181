//! An MCP server for the tools of a dispatcher.
//!
//! ```no_run
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
//! - Above the threshold [`ServerBuilder::list_at_most`], the server lists `search_tools`, `describe_tool` and
//!   `call_tool` instead of all tools.

mod batch;
mod builder;
mod call;
mod filter;
mod find;
mod headers;
mod http;
mod initialize;
mod listen;
mod message;
mod meta;
mod methods;
mod metrics;
mod page;
mod param_headers;
mod proxy;
mod reply;
mod request;
mod running;
mod served;
mod stdio;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Dispatcher, Tool};
use toolkit_http::{CallLimiter, ToolPool};

pub use self::builder::ServerBuilder;
pub use self::filter::{Filter, Hint, InvalidRule, Rule};
use self::find::Search;
pub use self::find::search_tools;
pub use self::http::{Body, Http, HttpError, Listening, Service, TokenError, Verify};
use self::metrics::Metrics;
pub use self::proxy::{LeftOut, Proxy};
pub use self::request::{Caller, MissingCapability, Request};
use self::running::Running;
pub use self::served::ServeError;
use self::served::ServedTools;

/// An MCP server. Clones share the server.
///
/// # Examples
///
/// ```no_run
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp::server::Server;
///
/// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
/// server.stdio().await?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// Returns the credentials of a caller that the server has not authenticated.
type CredentialsFn = dyn Fn(&Tool) -> Credentials + Send + Sync;

/// The state that all clones share.
struct Shared {
    served: RwLock<Arc<ServedTools>>,
    /// The number of times that the list of tools has changed.
    changes: watch::Sender<u64>,
    naming: Naming,
    filter: Filter,
    info: Value,
    instructions: Option<String>,
    /// The first fields of each result of revision 2026-07-28, as JSON with a trailing comma.
    meta: Vec<u8>,
    list_at_most: usize,
    page_size: usize,
    list_ttl: u64,
    /// True while a backend has not answered, so that clients do not cache the list.
    is_incomplete: AtomicBool,
    has_empty_prompts_and_resources: bool,
    call_timeout: Option<Duration>,
    calls: CallLimiter,
    pool: ToolPool,
    max_result_bytes: usize,
    shutdown_timeout: Duration,
    search: Option<Box<Search>>,
    credentials: Option<Box<CredentialsFn>>,
    running: Running,
    metrics: Metrics,
    shutdown: CancelToken,
}

impl Server {
    /// Creates a server for all tools of a dispatcher, with default settings. See [`Server::builder`] for the settings.
    ///
    /// # Errors
    ///
    /// Returns an error if the tools cannot be listed, such as two tools with the same name on the wire.
    pub fn new(dispatcher: Dispatcher) -> Result<Self, ServeError> {
        Self::builder(dispatcher).build()
    }

    /// Creates a builder for a server.
    pub fn builder(dispatcher: Dispatcher) -> ServerBuilder {
        ServerBuilder::new(dispatcher)
    }

    /// Replaces the tools. If the list changes for clients, notifies the subscribed ones. Running calls finish with the
    /// old tools.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Server::new`]. The tools then stay as they were.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Catalog, Dispatcher};
    /// use toolkit_mcp::server::Server;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
    /// server.replace(Dispatcher::new(Catalog::new([])?)?)?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn replace(&self, dispatcher: Dispatcher) -> Result<(), ServeError> {
        let shared = &self.shared;
        let served = Arc::new(ServedTools::new(dispatcher, shared.naming, &shared.filter, &shared.metrics)?);
        let before = {
            let mut current = shared.served.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&served))
        };
        shared.metrics.forget_all_but(served.entries.iter().map(|entry| &*entry.id));
        if !served.looks_like(&before) {
            self.announce();
        }
        Ok(())
    }

    /// Notifies the subscribed clients that the list of tools has changed.
    pub fn announce(&self) {
        self.shared.changes.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
    }

    /// Starts a graceful shutdown: running calls finish, and new requests are rejected.
    pub fn shut_down(&self) {
        self.shared.shutdown.cancel();
    }

    /// Returns the metrics in the Prometheus text format.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.shared.metrics.render()
    }

    fn served(&self) -> Arc<ServedTools> {
        Arc::clone(&self.shared.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Returns true if clients see the search tools in place of all tools.
    fn lists_search_tools(&self, served: &ServedTools) -> bool {
        served.entries.len() > self.shared.list_at_most
    }
}

impl Shared {
    /// Returns the time for which clients may cache the list of tools, in milliseconds.
    fn list_ttl(&self) -> u64 {
        match self.is_incomplete.load(Ordering::Acquire) {
            true => 0,
            false => self.list_ttl,
        }
    }

    /// Returns the first fields of each result of a revision.
    fn meta_fields(&self, revision: Revision) -> &[u8] {
        match revision {
            Revision::V2025_11_25 => b"",
            _ => &self.meta,
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.shared.info)
            .field("tools", &self.served().entries.len())
            .finish_non_exhaustive()
    }
}
