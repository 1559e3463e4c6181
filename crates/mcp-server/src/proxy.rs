//! A server for the tools of backends, which follows their changes.
//!
//! | module | contains |
//! | --- | --- |
//! | `resources` | the resources of backends |
//! | `lists` | their lists, which requests share |

mod lists;
mod resources;

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::slice::Iter;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use toolkit::backend::Routes;
use toolkit::call::BoxFuture;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::prompt::{Completion, CompletionRequest, Prompt};
use toolkit::tool::{ToolBackend, ToolId};
use toolkit::{Catalog, Context, Tool, ToolError};
use toolkit_backends::{BackendError, BackendReport, Backends, Collected, ContractChange};
use toolkit_runtime::spawn_tool;

use self::resources::ProxiedResources;

use super::filter::{Filter, Rule};
use super::find::search_tools;
use super::listed_names::Claims;
use super::proxied::{ListOutcome, Proxied, Sources};
use super::served::ServeError;
use super::server::Server;
use super::status::{ServedBackend, Status};

/// Serves the tools of backends, such as other MCP servers, next to those of this program, and follows their changes.
///
/// The settings of the server apply to all tools: its filter, naming and limits, and the state and layers of its
/// dispatcher. Annotations of tools of other programs are ignored unless the host trusts the backend or a lock file
/// contains the tool; see [`Backends::collect`].
///
/// The tools of a backend that starts slowly are added when it answers. Until all backends have answered, clients must
/// not cache the list (`ttlMs` is 0), and subscribed clients are notified of changes. The tools of a backend that has
/// failed stay for a while, and calls of them report that it is being restarted; see [`Backends::with_grace`].
///
/// # Examples
///
/// ```no_run,standalone_crate
/// use toolkit::backend::Backend;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_backends::Backends;
/// use toolkit_mcp_server::{Proxy, Server};
///
/// async fn run(other: impl Backend) -> Result<(), Box<dyn std::error::Error>> {
///     let backends = Backends::new();
///     backends.register(other)?;
///
///     let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
///     let proxy = Proxy::new(server.clone(), backends);
///     proxy.collect().await;
///     let following = async {
///         proxy.follow(|left_out| eprintln!("{left_out}")).await;
///         // The server shuts down and still has to finish running calls.
///         std::future::pending().await
///     };
///     tokio::select! {
///         served = server.stdio() => served?,
///         () = following => {}
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Proxy {
    server: Server,
    backends: Arc<Backends>,
    /// The tools and the prompts of this program.
    own: Catalog,
    wait: Duration,
    /// The latest contracts of the backends. The lock is held while tools are collected, so that an earlier collection
    /// never replaces a later one.
    offered: Mutex<HashMap<ToolId, Tool>>,
    proxied: Arc<Proxied>,
    resources: Arc<ProxiedResources>,
}

/// The diagnostics and changes that a [`Proxy`] has found while it collected tools.
///
/// # Examples
///
/// ```
/// use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
/// use toolkit::call::BoxFuture;
/// use toolkit::tool::BackendKind;
/// use toolkit::{Catalog, Dispatcher, ToolError};
/// use toolkit_backends::Backends;
/// use toolkit_mcp_server::{Proxy, Server};
///
/// /// A backend that does not respond.
/// struct Calendar;
///
/// impl Backend for Calendar {
///     fn name(&self) -> &str {
///         "calendar"
///     }
///     fn kind(&self) -> BackendKind {
///         BackendKind::Mcp
///     }
///     fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
///         Box::pin(async { Err(ToolError::failed("the login has expired")) })
///     }
/// #   fn call<'a>(&'a self, _: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
/// #       Box::pin(async { Err(ToolError::failed("the login has expired")) })
/// #   }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let backends = Backends::new();
/// backends.register(Calendar)?;
/// let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
/// let left_out = Proxy::new(server, backends).collect().await;
/// assert_eq!(left_out.failures[0].backend, "calendar");
/// assert_eq!(left_out.to_string(), "calendar: the login has expired");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LeftOut {
    /// The diagnostics of tools that are not served, and the differences from the lock file.
    pub diagnostics: Vec<Diagnostic>,
    /// The backends that could not be listed. Their last tools stay for a while and are then removed.
    pub failures: Vec<BackendError>,
    /// The tools of backends whose contract has changed since the previous collection.
    pub changes: Vec<ContractChange>,
}

/// The time within which several changes are handled as one.
const BURST: Duration = Duration::from_millis(100);

/// The upper bound of the pause after a collection. The pause is as long as the collection took, except for the wait
/// for slow backends.
const MAX_REST: Duration = Duration::from_secs(5);

/// The lower bound of the pause after a comparison of resources.
const MIN_REST: Duration = Duration::from_millis(500);

/// The number of remembered contracts of tools that are no longer listed.
const MAX_GONE: usize = 1_000;

/// The default time to wait for slow backends.
const WAIT: Duration = Duration::from_secs(2);

impl Proxy {
    /// Creates a proxy that adds the tools of `backends` to those of `server`. The current tools of the server always
    /// stay, and no backend can replace one of them.
    ///
    /// Only one proxy can follow the same backends; see [`Backends::changed`].
    pub fn new(server: Server, backends: impl Into<Arc<Backends>>) -> Self {
        let own = server.shared.served().dispatcher.catalog().clone();
        server.shared.is_incomplete.store(true, Ordering::Release);
        let backends = backends.into();
        let proxied = Arc::new(Proxied::new(Arc::<Backends>::clone(&backends)));
        let own_ids = own.iter().map(|tool| tool.id().clone()).collect();
        proxied.set_claims(Claims { own: Arc::new(own_ids), ..Claims::default() });
        *server.shared.proxied.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&proxied));
        // Before the first collection, the filter decides about no backend.
        let admitted = (server.shared.filter != Filter::all()).then(HashSet::new);
        let resources = Arc::new(ProxiedResources::new(Arc::clone(&backends), admitted));
        server.shared.resources.add(Arc::<ProxiedResources>::clone(&resources));
        Self { server, backends, own, wait: WAIT, offered: Mutex::default(), proxied, resources }
    }

    /// Sets the time that [`Proxy::follow`] waits for a slow backend before it serves the tools of the others. The
    /// tools of the slow backend are added when it answers. Default: 2 s.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Lists the tools of all backends and serves them. Running calls finish, and subscribed clients are notified if
    /// the list has changed.
    ///
    /// A backend that cannot be listed, or a tool that cannot be served, is left out and does not affect the others.
    pub async fn collect(&self) -> LeftOut {
        let mut offered = self.offered.lock().await;
        self.serve(self.backends.collect(self.own.clone()).await, &mut offered)
    }

    /// Like [`Proxy::collect`], but waits at most `timeout` for a backend; see [`Backends::collect_within`].
    pub async fn collect_within(&self, timeout: Duration) -> LeftOut {
        let mut offered = self.offered.lock().await;
        self.serve(self.backends.collect_within(self.own.clone(), timeout).await, &mut offered)
    }

    /// Collects the tools whenever those of a backend may have changed, and passes the result to `report`. Returns when
    /// the server is [shut down](Server::shut_down), which may be before running calls have finished.
    ///
    /// At most about half of the time is spent on collecting, however often a backend reports changes.
    ///
    /// Meanwhile, when a backend reports that its list of resources has changed, clients are notified if it differs.
    pub async fn follow(&self, mut report: impl FnMut(LeftOut)) {
        let following_resources = async {
            loop {
                self.resources.reported().await;
                sleep(BURST).await;
                let started = Instant::now();
                let resources = Arc::clone(&self.resources);
                // The resources of a backend may block.
                let compared = spawn_tool("resources/", async move {
                    resources.renew().await;
                    resources.compare().await;
                });
                if compared.await.is_err() {
                    tracing::error!("the resources of the backends cannot be listed: a backend has panicked");
                }
                sleep(started.elapsed().clamp(MIN_REST, MAX_REST)).await;
            }
        };
        let following = async {
            loop {
                self.backends.changed().await;
                sleep(BURST).await;
                let started = Instant::now();
                report(self.collect_within(self.wait).await);
                sleep(started.elapsed().min(MAX_REST)).await;
            }
        };
        tokio::select! {
            () = following => {}
            () = following_resources => {}
            () = self.server.shared.shutdown.cancelled() => {}
        }
    }

    /// Returns the status of the server and its backends; see [`Server::status`].
    #[must_use]
    pub fn status(&self) -> Status {
        self.server.status()
    }

    /// Sets the errors in the configuration of the backends, which the [status](Proxy::status) contains until the next
    /// call. They must not contain secrets.
    pub fn set_configuration_errors(&self, errors: impl IntoIterator<Item = String>) {
        self.proxied.set_configuration_errors(errors.into_iter().collect());
    }

    fn serve(&self, collected: Collected, offered: &mut HashMap<ToolId, Tool>) -> LeftOut {
        let mut outcomes = outcomes(&collected, self.backends.names());
        self.proxied.set_cache(collected.list_ttl, collected.is_private);
        let Collected { catalog, routes, mut diagnostics, failures, offered: now, mut instructions, .. } = collected;
        let n_collected = diagnostics.len();
        let mut changes = Vec::new();
        // Remembers the contracts of removed tools, so that a tool that comes back is compared, up to a bound.
        if offered.len() > 2 * now.len() + MAX_GONE {
            offered.clear();
        }
        for tool in &now {
            let before = offered.insert(tool.id().clone(), tool.clone());
            changes.extend(before.and_then(|before| ContractChange::between(&before, tool)));
        }
        // A backend that answers later may add tools, so the list is incomplete until then.
        let is_incomplete = failures.iter().any(|failure| failure.error.is_retryable());
        self.server.shared.is_incomplete.store(is_incomplete, Ordering::Release);
        if failures.is_empty() {
            diagnostics.extend(self.rules_without_effect(&catalog));
        }
        self.admit_resources(&catalog, &routes, &failures);
        self.resources.follow();
        let mut tools: Vec<Tool> = catalog.iter().map(|tool| self.with_proxied_ui(tool, &routes)).collect();
        diagnostics.extend(self.leave_out_reserved(&mut tools));
        self.claim_names(&catalog, &failures);
        while let Err(error) = self.try_to_serve(&tools, catalog.prompts(), &routes) {
            let losers = self.losers(&tools, &routes, error.diagnostics());
            diagnostics.extend(error.diagnostics().cloned());
            if losers.is_empty() {
                // The tools of the server itself are at fault, so it keeps its current list.
                break;
            }
            tools.retain(|tool| !losers.contains(tool.id()));
        }
        for diagnostic in &diagnostics[n_collected..] {
            let ids = diagnostic.tools().filter_map(|(id, _)| id.parse::<ToolId>().ok());
            let owners: HashSet<String> = ids.filter_map(|id| routes.owner(&id).map(str::to_owned)).collect();
            for owner in owners {
                if let Some(outcome) = outcomes.get_mut(&owner) {
                    outcome.leave_out(diagnostic.message());
                }
            }
        }
        let served = self.server.shared.served();
        ListOutcome::count(&mut outcomes, &served, |id| routes.owner(id));
        let mut by_backend: HashMap<&str, Vec<Tool>> = HashMap::new();
        for tool in served.entries.iter().map(|entry| served.tool(entry)) {
            if let Some(owner) = routes.owner(tool.id()) {
                by_backend.entry(owner).or_default().push(tool.clone());
            }
        }
        instructions.retain(|(name, _)| by_backend.contains_key(&**name));
        self.proxied.set_instructions(&instructions);
        let known = self.backends.names().into_iter().map(|name| {
            let has_failed = failures.iter().any(|failure| failure.backend == name);
            let is_complete = outcomes.get(&name).is_some_and(ListOutcome::is_complete);
            // A backend has no tools only if it has answered so: its tools may be withheld.
            let tools = by_backend.remove(&*name).or_else(|| (is_complete && !has_failed).then(Vec::new));
            (name, tools)
        });
        self.proxied.record_tools(known.collect());
        self.proxied.record(outcomes);
        LeftOut { diagnostics, failures, changes }
    }

    /// Reports the rules of the filter that match no tool, once all backends have answered.
    fn rules_without_effect(&self, catalog: &Catalog) -> Vec<Diagnostic> {
        let tools: Vec<Tool> = catalog.iter().cloned().collect();
        // A backend without tools may have resources.
        let names = self.backends.names();
        let is_backend = |rule: &Rule| names.iter().any(|name| rule.matches_namespace(name));
        let rules = self.server.shared.filter.unmatched(&tools).filter(|rule| !is_backend(rule));
        let message = |rule: &Rule| {
            format!("no tool matches the rule `{}` to allow or deny tools", rule.to_string().escape_debug())
        };
        let ambiguous = self.server.shared.filter.ambiguous(catalog).map(|(rule, ids)| {
            let (rule, ids) = (rule.to_string(), ids.join("` or `"));
            format!("several tools would have the name in the rule `{rule}`, so it allows none of them; write `{ids}`")
        });
        let messages = rules.map(message).chain(ambiguous);
        messages.map(|message| Diagnostic::new(DiagnosticKind::Unexpected, message, [])).collect()
    }

    /// Serves the resources of those backends that pass the filter of the server. For a backend whose tools are not known
    /// at the moment, nothing changes.
    fn admit_resources(&self, catalog: &Catalog, routes: &Routes, failures: &[BackendError]) {
        let filter = self.server.shared.filter();
        if *filter == Filter::all() {
            return;
        }
        let before = self.resources.admitted().unwrap_or_default();
        let mut admitted = HashSet::new();
        for name in self.backends.names() {
            let mut tools = catalog.iter().filter(|tool| routes.owner(tool.id()) == Some(&name)).peekable();
            let is_unknown = tools.peek().is_none() && failures.iter().any(|failure| failure.backend == name);
            let is_admitted =
                if is_unknown { before.contains(&name) } else { filter.admits_resources_of(&name, tools) };
            if is_admitted {
                admitted.insert(name);
            }
        }
        self.resources.admit(admitted);
    }

    /// Removes tools of backends that have the name of a search tool on the wire. Otherwise a model would search with,
    /// or send its arguments to, a tool of another program.
    fn leave_out_reserved(&self, tools: &mut Vec<Tool>) -> Vec<Diagnostic> {
        let own: HashSet<&ToolId> = self.own.iter().map(Tool::id).collect();
        let mut diagnostics = Vec::new();
        tools.retain(|tool| {
            let name = self.server.shared.naming.wire_name(tool.id());
            let is_reserved = search_tools().iter().any(|reserved| reserved.name() == name);
            let is_left_out = is_reserved && !own.contains(tool.id());
            if is_left_out {
                let message = format!("`{}` is left out: `{name}` is a tool of the server itself", tool.id());
                diagnostics.push(Diagnostic::new(DiagnosticKind::WireName, message, [tool]));
            }
            !is_left_out
        });
        diagnostics
    }

    /// Records which servers claim which listed names.
    fn claim_names(&self, catalog: &Catalog, failures: &[BackendError]) {
        let shared = &self.server.shared;
        let mut claims = Claims::clone(&self.proxied.claims());
        let servers = self.backends.names();
        let is_unknown = |name: &&String| {
            failures.iter().any(|failure| failure.backend == **name) && self.proxied.tools_of(name).is_none()
        };
        let (naming, filter) = (shared.naming, shared.filter());
        let tools = catalog.latest().filter(|tool| filter.admits_among(tool, catalog)).map(Tool::id);
        let tools = tools.filter(|id| !claims.own.contains(*id));
        let tools: Vec<&ToolId> = tools.collect();
        let bare = self.backends.names_without_prefix();
        claims.tools.record(naming, tools.into_iter(), &servers, servers.iter().filter(is_unknown), &bare);
        let prompts = catalog.latest_prompts().filter(|prompt| filter.admits(prompt.tool()));
        let prompts = prompts.filter(|prompt| prompt.tool().location().is_none()).map(Prompt::id);
        claims.prompts.record(naming, prompts, &servers, servers.iter().filter(is_unknown), &bare);
        self.proxied.set_claims(claims);
    }

    fn try_to_serve(&self, tools: &[Tool], prompts: Iter<'_, Prompt>, routes: &Routes) -> Result<(), ServeError> {
        let catalog = Catalog::new(tools.iter().cloned())?.with_prompts(prompts.cloned())?;
        let dispatcher = self.server.shared.served().dispatcher.with_catalog(catalog, routes.clone())?;
        self.server.replace(dispatcher)
    }

    /// Returns the tools to remove so that the rest can be served. Among tools that conflict, the first in the order of
    /// trust stays, except for those that would have the same name even with a suffix: none of them has it.
    fn losers<'p>(
        &self,
        tools: &[Tool],
        routes: &Routes,
        diagnostics: impl Iterator<Item = &'p Diagnostic>,
    ) -> HashSet<ToolId> {
        let names = self.backends.names();
        let own: HashSet<&ToolId> = self.own.iter().map(Tool::id).collect();
        let by_id: HashMap<String, &Tool> = tools.iter().map(|tool| (tool.id().to_string(), tool)).collect();
        let trust = |tool: &&Tool| {
            let kind = routes.backends(tool.id()).next().map(ToolBackend::kind);
            let place = routes.owner(tool.id()).and_then(|owner| names.iter().position(|name| name == owner));
            (!own.contains(tool.id()), kind, place)
        };
        let mut losers = HashSet::new();
        for diagnostic in diagnostics {
            let mut concerned: Vec<&Tool> = diagnostic.tools().filter_map(|(id, _)| by_id.get(id).copied()).collect();
            concerned.sort_by_key(trust);
            let n_stay = usize::from(concerned.len() > 1 && diagnostic.kind() != DiagnosticKind::WireName);
            let leave = concerned.into_iter().skip(n_stay).map(Tool::id).filter(|id| !own.contains(id));
            losers.extend(leave.cloned());
        }
        losers
    }

    /// Returns a tool whose user interface is a resource of the proxy, if its backend has resources.
    fn with_proxied_ui(&self, tool: &Tool, routes: &Routes) -> Tool {
        if let (Some(owner), Some(Value::Object(mut meta))) = (routes.owner(tool.id()), tool.meta())
            && self.proxied.origin(owner).encode_ui(&mut meta)
        {
            return tool.with_meta(meta);
        }
        tool.clone()
    }
}

/// Summarizes a collection by backend.
fn outcomes(collected: &Collected, names: Vec<String>) -> HashMap<String, ListOutcome> {
    let outcome = |name: String| {
        let mut outcome = ListOutcome::default();
        collected.diagnostics_of(&name).for_each(|diagnostic| outcome.leave_out(diagnostic.message()));
        let failure = collected.failures.iter().find(|failure| failure.backend == name && !failure.is_pending);
        outcome.failure = failure.map(|failure| failure.error.message().to_owned());
        (name, outcome)
    };
    names.into_iter().map(outcome).collect()
}

impl Sources for Backends {
    fn holds_sessions(&self) -> bool {
        self.holds_sessions()
    }

    fn end_session(&self, session: &str) {
        self.end_session(session);
    }

    fn is_enabled(&self, backend: &str) -> bool {
        self.is_enabled(backend)
    }

    fn has_resources(&self, backend: &str) -> bool {
        self.resources().iter().any(|(name, _)| name == backend)
    }

    fn complete<'a>(
        &'a self,
        backend: &'a str,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        Box::pin(self.complete(backend, request, context))
    }

    fn report(&self) -> Vec<ServedBackend> {
        let reports = self.report().into_iter();
        let backends = reports.map(|BackendReport { name, kind, status, calls, .. }| ServedBackend {
            name,
            kind,
            state: status.state,
            since: status.since,
            next_attempt: status.next_attempt,
            last_error: status.last_error,
            n_restarts: status.n_restarts,
            n_tasks: status.n_tasks,
            n_tools: 0,
            n_left_out: 0,
            reasons: Vec::new(),
            calls,
        });
        backends.collect()
    }
}

impl LeftOut {
    /// Returns true if there are no diagnostics and no failures.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty() && self.failures.is_empty()
    }
}

/// Formats each failure, diagnostic and change on at least one line.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures = self.failures.iter().map(|failure| failure.to_string());
        let changes = self.changes.iter().map(ToString::to_string);
        let texts: Vec<String> =
            failures.chain(self.diagnostics.iter().map(ToString::to_string)).chain(changes).collect();
        f.write_str(&texts.join("\n"))
    }
}
