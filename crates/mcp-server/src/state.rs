//! The state that all clones of a server share.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Catalog, Tool};
use toolkit_mcp::response;
use toolkit_runtime::CallLimiter;

use super::ask::{OpenRequests, Sealing, WaitingCalls};
use super::filter::{Filter, Rule};
use super::logging::LogLevels;
use super::metrics::Metrics;
use super::observe::AuditLog;
use super::peer::RunningRequests;
use super::proxied::Proxied;
use super::served::{CacheHints, ServedTools};
use super::subscriptions::Providers;
use super::tasks::Tasks;

/// Returns the credentials of a caller that the server has not authenticated.
pub(super) type CredentialsFn = dyn Fn(&Tool) -> Credentials + Send + Sync;

/// A search function: from the catalog, the query and the maximum number of hits to the ids of the hits, best first.
pub(super) type Search = dyn Fn(&Catalog, &str, usize) -> Vec<String> + Send + Sync;

/// The state that all clones share.
pub(super) struct ServerState {
    pub(super) served: RwLock<Arc<ServedTools>>,
    /// Held while the served tools are replaced, so that none of two changes at the same time is lost.
    pub(super) replacing: Mutex<()>,
    /// The number of times that the list of tools has changed.
    pub(super) changes: watch::Sender<u64>,
    /// The number of times that the list of prompts has changed.
    pub(super) prompt_changes: watch::Sender<u64>,
    pub(super) naming: Naming,
    pub(super) filter: Filter,
    /// The rules of [`Server::disable`](super::Server::disable).
    pub(super) disabled: RwLock<Vec<Rule>>,
    /// The tools that clients call themselves.
    pub(super) direct: Filter,
    pub(super) info: Value,
    pub(super) instructions: Option<String>,
    /// The first fields of each result of revision 2026-07-28, as JSON with a trailing comma.
    pub(super) meta: Vec<u8>,
    pub(super) list_at_most: usize,
    pub(super) page_size: usize,
    pub(super) list_ttl: u64,
    /// True while a backend has not answered, so that clients do not cache the list.
    pub(super) is_incomplete: AtomicBool,
    pub(super) has_empty_prompts_and_resources: bool,
    pub(super) call_timeout: Option<Duration>,
    pub(super) calls: CallLimiter,
    pub(super) max_result_bytes: usize,
    pub(super) shutdown_timeout: Duration,
    pub(super) search: Option<Box<Search>>,
    pub(super) credentials: Option<Box<CredentialsFn>>,
    pub(super) running: RunningRequests,
    pub(super) requests: OpenRequests,
    pub(super) log_levels: LogLevels,
    pub(super) ask_timeout: Duration,
    pub(super) waiting: WaitingCalls,
    pub(super) audit: AuditLog,
    pub(super) sealing: Arc<Sealing>,
    pub(super) resources: Providers,
    pub(super) tasks: Arc<Tasks>,
    pub(super) metrics: Metrics,
    /// The backends of the latest proxy of the server.
    pub(super) proxied: RwLock<Option<Arc<Proxied>>>,
    /// Cancelled when the server announces its end, and still accepts calls.
    pub(super) draining: CancelToken,
    pub(super) shutdown: CancelToken,
}

impl ServerState {
    /// Returns the filter of the tools, without those that are disabled.
    pub(super) fn filter(&self) -> Cow<'_, Filter> {
        let disabled = self.disabled.read().unwrap_or_else(PoisonError::into_inner);
        match disabled.is_empty() {
            true => Cow::Borrowed(&self.filter),
            false => Cow::Owned(disabled.iter().cloned().fold(self.filter.clone(), Filter::deny)),
        }
    }

    pub(super) fn served(&self) -> Arc<ServedTools> {
        Arc::clone(&self.served.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Writes the response to a request, with the first fields of each result of the revision.
    pub(super) fn response(&self, id: &RawValue, revision: Revision, result: &[u8]) -> Vec<u8> {
        response(id, self.meta_fields(revision), result)
    }

    /// Returns true if clients see the search tools in place of all tools.
    pub(super) fn lists_search_tools(&self, served: &ServedTools) -> bool {
        cfg!(feature = "search") && served.entries.len() > self.list_at_most
    }

    /// Logs that clients see the search tools. A person who approves `call_tool` approves each tool.
    pub(super) fn warn_of_search_tools(&self, served: &ServedTools) {
        if self.lists_search_tools(served) {
            let (n_tools, limit) = (served.entries.len(), self.list_at_most);
            tracing::warn!(
                "clients see search_tools, describe_tool and call_tool in place of the {n_tools} tools, which are more \
                 than {limit}; a higher limit (`--list-at-most`, `ServerBuilder::list_at_most`) lists all"
            );
        }
    }

    /// Announces the end of the server: health checks fail, subscriptions end, and calls are still accepted.
    pub(super) fn drain(&self) {
        self.draining.cancel();
    }

    /// Starts a graceful shutdown: running calls finish, and new requests are rejected.
    pub(super) fn shut_down(&self) {
        self.drain();
        self.shutdown.cancel();
    }

    /// Returns the time for which clients may cache the lists of tools and prompts, in milliseconds: the least of those
    /// that this server and the servers behind a proxy state.
    pub(super) fn list_ttl(&self) -> u64 {
        if self.is_incomplete.load(Ordering::Acquire) {
            return 0;
        }
        let proxied = self.proxied().and_then(|proxied| proxied.list_ttl());
        let proxied = proxied.and_then(|ttl| ttl.as_millis().try_into().ok());
        self.list_ttl.min(proxied.unwrap_or(u64::MAX))
    }

    /// Returns how clients may cache the lists of tools and prompts. Those of this program do not depend on the caller, so
    /// caches may share them.
    pub(super) fn list_cache(&self) -> CacheHints {
        let is_private = self.proxied().is_some_and(|proxied| proxied.is_private());
        CacheHints { ttl_ms: self.list_ttl(), scope: if is_private { "private" } else { "public" } }
    }

    /// Returns true if the server declares prompts. A backend of a proxy may add some at any time.
    pub(super) fn offers_prompts(&self) -> bool {
        self.is_proxy() || !self.served().prompts.is_empty()
    }

    /// Returns true if a proxy adds tools and resources of backends.
    pub(super) fn is_proxy(&self) -> bool {
        self.proxied().is_some()
    }

    /// Returns the instructions for the model: those of this program, and those of the backends of a proxy.
    pub(super) fn instructions(&self) -> Option<String> {
        let proxied = self.proxied().map(|proxied| proxied.instructions()).filter(|text| !text.is_empty());
        match (&self.instructions, proxied) {
            (Some(own), Some(proxied)) => Some(format!("{own}\n\n{proxied}")),
            (own, proxied) => own.clone().or(proxied),
        }
    }

    /// Returns the backends of the proxy, if there is one.
    pub(super) fn proxied(&self) -> Option<Arc<Proxied>> {
        self.proxied.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns true if a proxy has a backend with this name that is enabled.
    pub(super) fn has_backend(&self, name: &str) -> bool {
        let proxied = self.proxied.read().unwrap_or_else(PoisonError::into_inner);
        proxied.as_ref().is_some_and(|proxied| proxied.has_backend(name))
    }

    /// Returns the tools of a proxy's backend that the server serves, or `None` if they have never been known.
    pub(super) fn tools_of(&self, backend: &str) -> Option<Arc<[Tool]>> {
        self.proxied()?.tools_of(backend)
    }

    /// Returns the first fields of each result of a revision.
    pub(super) fn meta_fields(&self, revision: Revision) -> &[u8] {
        match revision {
            Revision::V2025_11_25 => b"",
            _ => &self.meta,
        }
    }
}
