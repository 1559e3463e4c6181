//! The state that all clones of a server share, and how long clients may cache its lists.

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use serde_json::Value;
use serde_json::value::RawValue;
use tokio::sync::watch;
use toolkit::call::Credentials;
use toolkit::catalog::Naming;
use toolkit::mcp::Revision;
use toolkit::{CancelToken, Catalog, Tool};
use toolkit_mcp::response;
use toolkit_runtime::{CallLimiter, Mutex};

use super::ask::{OpenRequests, Sealing, WaitingCalls};
use super::filter::{Filter, Rule};
use super::logging::LogLevels;
use super::metrics::Metrics;
use super::observe::AuditLog;
use super::peer::RunningRequests;
use super::proxied::Proxied;
use super::request::Caller;
use super::served::{CacheHints, ServedTools};
use super::subscriptions::Providers;
use super::tasks::Tasks;

/// Returns the credentials of a caller that the server has not authenticated.
pub(super) type CredentialsFn = dyn Fn(&Tool) -> Credentials + Send + Sync;

/// A search function: from the catalog, the query and the maximum number of hits to the ids of the hits, best first.
pub(super) type Search = dyn Fn(&Catalog, &str, usize) -> Vec<String> + Send + Sync;

/// The servers of the views of a proxy.
pub(super) trait ViewServers: Send + Sync {
    /// Returns the server of what a caller sees at a path, or `None` if the path is not that of an endpoint of this caller.
    /// At `/mcp`, each caller has a server, which may be empty.
    fn server(&self, path: &str, caller: Option<&Caller>) -> Option<Arc<ServerState>>;

    /// Returns true if a view has the endpoint with this path.
    fn has_path(&self, path: &str) -> bool;

    /// Returns the servers of views that contain the program itself.
    fn of_program(&self) -> Vec<Arc<ServerState>>;

    /// Serves the tools again, of which the host has disabled or enabled some.
    fn renew(&self);
}

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
    pub(super) disabled: Arc<RwLock<Vec<Rule>>>,
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
    pub(super) search: Option<Arc<Search>>,
    pub(super) credentials: Option<Arc<CredentialsFn>>,
    pub(super) running: RunningRequests,
    pub(super) requests: OpenRequests,
    pub(super) log_levels: LogLevels,
    pub(super) ask_timeout: Duration,
    pub(super) waiting: WaitingCalls,
    pub(super) audit: AuditLog,
    pub(super) sealing: Arc<Sealing>,
    pub(super) resources: Providers,
    pub(super) tasks: Arc<Tasks>,
    pub(super) metrics: Arc<Metrics>,
    /// The backends of the latest proxy of the server.
    pub(super) proxied: RwLock<Option<Arc<Proxied>>>,
    /// The views of the proxy, if it has some.
    pub(super) views: OnceLock<Arc<dyn ViewServers>>,
    /// True for the server of some views, whose callers read no metrics.
    pub(super) is_view: bool,
    /// Sent when the views have changed or the server of some views ends, so that the streams of notifications begin again.
    pub(super) regrouped: watch::Sender<()>,
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

    /// Creates the server of some views. It has the settings, limits and metrics of this one, and nothing that depends on
    /// the tools.
    pub(super) fn of_views(&self, served: ServedTools, resources: Providers, proxied: Arc<Proxied>) -> Self {
        Self {
            served: RwLock::new(Arc::new(served)),
            replacing: Mutex::default(),
            changes: watch::Sender::new(0),
            prompt_changes: watch::Sender::new(0),
            naming: self.naming,
            filter: self.filter.clone(),
            disabled: Arc::clone(&self.disabled),
            direct: self.direct.clone(),
            info: self.info.clone(),
            instructions: self.instructions.clone(),
            meta: self.meta.clone(),
            list_at_most: self.list_at_most,
            page_size: self.page_size,
            list_ttl: self.list_ttl,
            is_incomplete: AtomicBool::new(true),
            has_empty_prompts_and_resources: self.has_empty_prompts_and_resources,
            call_timeout: self.call_timeout,
            calls: self.calls.clone(),
            max_result_bytes: self.max_result_bytes,
            shutdown_timeout: self.shutdown_timeout,
            search: self.search.clone(),
            credentials: self.credentials.clone(),
            running: RunningRequests::default(),
            requests: OpenRequests::default(),
            log_levels: LogLevels::default(),
            ask_timeout: self.ask_timeout,
            waiting: self.waiting.clone(),
            audit: self.audit,
            sealing: Arc::clone(&self.sealing),
            resources,
            tasks: Arc::clone(&self.tasks),
            metrics: Arc::clone(&self.metrics),
            proxied: RwLock::new(Some(proxied)),
            views: OnceLock::new(),
            is_view: true,
            regrouped: watch::Sender::new(()),
            draining: self.draining.clone(),
            shutdown: self.shutdown.clone(),
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
        let is_private =
            self.views.get().is_some() || self.is_view || self.proxied().is_some_and(|proxied| proxied.is_private());
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
