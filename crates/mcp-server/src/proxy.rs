//! A server for the tools of backends, which follows their changes.
//!
//! | module | contains |
//! | --- | --- |
//! | `front` | a server with the tools of backends |
//! | `views`, `unions` | the servers of the proxy's views, and their number |
//! | `resources` | the resources of backends |
//! | `lists` | their lists, which requests share |

mod front;
mod lists;
mod resources;
mod unions;
mod views;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use tokio::sync::{Mutex, Notify};
use tokio::time::{Instant, sleep};
use toolkit::call::BoxFuture;
use toolkit::catalog::Diagnostic;
use toolkit::prompt::{Completion, CompletionRequest};
use toolkit::tool::ToolId;
use toolkit::{Catalog, Context, Tool, ToolError};
use toolkit_backends::{BackendError, BackendReport, Backends, Collected, ContractChange};
use toolkit_runtime::spawn_tool;

use self::front::{Collection, Front};
use self::resources::ProxiedResources;
use self::views::Views;
use super::proxied::Sources;
use super::server::Server;
use super::status::{ServedBackend, Status};
use super::view::View;

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
    front: Front,
    views: Arc<Views>,
    /// Notified when a backend reports a change of its list of resources.
    reported: Arc<Notify>,
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
        let (backends, reported) = (backends.into(), Arc::default());
        let front = Front::new(server.clone(), Arc::clone(&backends), &reported);
        let own = server.shared.served().dispatcher.catalog().clone();
        let views = Views::new(&server.shared, Arc::clone(&backends), own.clone(), &reported);
        *server.shared.proxied.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&front.proxied));
        server.shared.resources.add(Arc::<ProxiedResources>::clone(&front.resources));
        Self { server, backends, own, wait: WAIT, offered: Mutex::default(), front, views: Arc::new(views), reported }
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
                self.reported.notified().await;
                sleep(BURST).await;
                let started = Instant::now();
                let mut of_servers = self.views.resources();
                of_servers.push(Arc::clone(&self.front.resources));
                // The resources of a backend may block.
                let compared = spawn_tool("resources/", async move {
                    for resources in of_servers {
                        resources.renew().await;
                        resources.compare().await;
                    }
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

    /// Sets the views, of which each caller sees the union of those that apply. From then on, whatever a caller does not see
    /// does not exist for this caller: tools, prompts, resources, completions, notifications and their names. A caller to
    /// whom no view applies sees nothing, and `/metrics` and `/status` exist only for callers of a view of everything.
    ///
    /// Tools of backends that [call tools](toolkit::backend::Backend::calls_tools), such as those that run programs, call the
    /// tools that their caller sees, and are in each view whose filter does not deny them. Streams of notifications end when the
    /// views change, so that clients begin them again.
    ///
    /// # Examples
    ///
    /// ```
    /// # use toolkit::{Catalog, Dispatcher};
    /// # use toolkit_backends::Backends;
    /// use toolkit_mcp_server::{Proxy, Server, View};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = Server::new(Dispatcher::new(Catalog::new([])?)?)?;
    /// let proxy = Proxy::new(server, Backends::new());
    /// let everything = View::new("operators").claim("groups", ["operators"]);
    /// proxy.set_views([everything, View::new("finance").path("/finance/mcp").servers(["ledger"])]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_views(&self, views: impl IntoIterator<Item = View>) {
        self.views.set(views.into_iter().collect());
        let views: Arc<Views> = Arc::clone(&self.views);
        let _ = self.server.shared.views.set(views);
        self.server.shared.regrouped.send_replace(());
    }

    /// Sets the errors in the configuration of the backends, which the [status](Proxy::status) contains until the next
    /// call. They must not contain secrets.
    pub fn set_configuration_errors(&self, errors: impl IntoIterator<Item = String>) {
        self.front.proxied.set_configuration_errors(errors.into_iter().collect());
    }

    fn serve(&self, mut collected: Collected, offered: &mut HashMap<ToolId, Tool>) -> LeftOut {
        let mut changes = Vec::new();
        // Remembers the contracts of removed tools, so that a tool that comes back is compared, up to a bound.
        if offered.len() > 2 * collected.offered.len() + MAX_GONE {
            offered.clear();
        }
        for tool in &collected.offered {
            let before = offered.insert(tool.id().clone(), tool.clone());
            changes.extend(before.and_then(|before| ContractChange::between(&before, tool)));
        }
        let failures = std::mem::take(&mut collected.failures);
        let mut diagnostics = collected.diagnostics.clone();
        let collection = Collection { collected, failures: failures.iter().map(Into::into).collect() };
        diagnostics.extend(self.front.serve(&collection));
        diagnostics.extend(self.views.serve(collection));
        LeftOut { diagnostics, failures, changes }
    }
}

impl Sources for Backends {
    fn holds_sessions(&self) -> bool {
        self.holds_sessions(|_| true)
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
