//! Serves what a dispatcher runs to any client of the protocol.
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
//! One [`Server`] answers both eras at once: 2026-07-28, where each request says all there is to say, and the revisions
//! with an `initialize`, back to 2024-11-05. It keeps nothing for a client but its running calls.
//!
//! - What a tool refuses or fails at is a result with `isError`, which the model reads; an unknown tool is an error of
//!   the protocol (-32602). The text of an unexpected error is logged, and never sent.
//! - A client that goes away cancels its calls, by `notifications/cancelled` or by closing its connection; so does a
//!   call that takes longer than [`ServerBuilder::call_timeout`].
//! - [`Server::replace`] swaps the tools while the server runs, and tells all clients that listen. A [`Proxy`] does so
//!   with the tools of backends, such as other servers, whenever those change.
//! - Over [`ServerBuilder::list_at_most`] tools, a client is shown three that find, describe and call all others.

mod batch;
mod builder;
mod call;
mod filter;
mod find;
mod headers;
mod hello;
mod http;
mod listen;
mod message;
mod meta;
mod methods;
mod metrics;
mod mirror;
mod page;
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
use toolkit::adapter::mcp::Revision;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::{CancelToken, Dispatcher, Tool};
use toolkit_http::{CallLimiter, ToolPool};

pub use self::builder::ServerBuilder;
pub use self::filter::{Filter, Hint, InvalidRule, Rule};
use self::find::Search;
pub use self::find::search_tools;
pub use self::http::{Body, Http, HttpError, Listening, Refusal, Service, Verify};
use self::metrics::Metrics;
pub use self::proxy::{LeftOut, Proxy};
pub use self::request::{Caller, MissingCapability, Request};
use self::running::Running;
pub use self::served::ServeError;
use self::served::Served;

/// A server of tools. Clones are the same server.
#[derive(Clone)]
pub struct Server {
    shared: Arc<Shared>,
}

/// What the host holds for a caller that nobody has verified.
type Held = dyn Fn(&Tool) -> Credentials + Send + Sync;

/// What all clones share.
struct Shared {
    served: RwLock<Arc<Served>>,
    /// Counts how often the tools were replaced.
    changes: watch::Sender<u64>,
    naming: Naming,
    filter: Filter,
    info: Value,
    instructions: Option<String>,
    /// Fields that stand in every result of 2026-07-28.
    meta: Vec<u8>,
    list_at_most: usize,
    page_size: usize,
    list_ttl: u64,
    /// True while backends have not answered, so that clients are told not to keep the list.
    is_incomplete: AtomicBool,
    has_empty_lists: bool,
    call_timeout: Option<Duration>,
    calls: CallLimiter,
    pool: ToolPool,
    max_result_bytes: usize,
    shutdown_timeout: Duration,
    search: Option<Box<Search>>,
    credentials: Option<Box<Held>>,
    running: Running,
    metrics: Metrics,
    shutdown: CancelToken,
}

impl Server {
    /// Serves all tools of a dispatcher; see [`Server::builder`] for more.
    ///
    /// # Errors
    ///
    /// Some tool cannot be listed: two would have one name, or a name is one that clients refuse.
    pub fn new(dispatcher: Dispatcher) -> Result<Self, ServeError> {
        Self::builder(dispatcher).build()
    }

    /// Sets up a server.
    pub fn builder(dispatcher: Dispatcher) -> ServerBuilder {
        ServerBuilder::new(dispatcher)
    }

    /// Serves other tools from now on, and tells all clients that listen if it looks different to them. Calls that run
    /// come to their end.
    ///
    /// # Errors
    ///
    /// As for [`Server::new`]; the tools are then those that they were.
    pub fn replace(&self, dispatcher: Dispatcher) -> Result<(), ServeError> {
        let shared = &self.shared;
        let served = Arc::new(Served::new(dispatcher, shared.naming, &shared.filter, &shared.metrics)?);
        let before = {
            let mut current = shared.served.write().unwrap_or_else(PoisonError::into_inner);
            std::mem::replace(&mut *current, Arc::clone(&served))
        };
        shared.metrics.forget_all_but(served.offers.iter().map(|offer| &*offer.id));
        if !served.looks_like(&before) {
            self.announce();
        }
        Ok(())
    }

    /// Tells all clients that listen to ask for the list again.
    pub fn announce(&self) {
        self.shared.changes.send_modify(|n_changes| *n_changes = n_changes.wrapping_add(1));
    }

    /// Says that the server is to end: running calls are finished, and nothing new is begun.
    pub fn shut_down(&self) {
        self.shared.shutdown.cancel();
    }

    /// What has happened so far, as Prometheus reads it.
    #[must_use]
    pub fn metrics(&self) -> String {
        self.shared.metrics.render()
    }

    fn served(&self) -> Arc<Served> {
        Arc::clone(&self.shared.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Whether clients are shown how to find tools, and not the tools.
    fn finds(&self, served: &Served) -> bool {
        served.offers.len() > self.shared.list_at_most
    }
}

impl Shared {
    /// Returns the time that clients may keep the list of tools, in milliseconds.
    fn list_ttl(&self) -> u64 {
        match self.is_incomplete.load(Ordering::Acquire) {
            true => 0,
            false => self.list_ttl,
        }
    }

    /// Fields that stand first in every result of a revision.
    fn meta_of(&self, revision: Revision) -> &[u8] {
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
            .field("tools", &self.served().offers.len())
            .finish_non_exhaustive()
    }
}
