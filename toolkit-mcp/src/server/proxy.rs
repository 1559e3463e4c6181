//! The tools of backends, served along with those of this program, and followed as they change.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::{Instant, sleep};
use toolkit::backend::{Backends, Collected, ContractChange, Failure, Routes};
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::tool::{ToolBackend, ToolId};
use toolkit::{Catalog, Tool};

use super::served::ServeError;
use super::{Server, search_tools};

/// Serves the tools of backends, such as other servers of the protocol, along with those of this program, and follows
/// them as they change.
///
/// ```no_run
/// use toolkit::backend::Backends;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_mcp::server::{Proxy, Server};
///
/// # async fn run(other: impl toolkit::backend::Backend) -> Result<(), Box<dyn std::error::Error>> {
/// let backends = Backends::new();
/// backends.register(other)?;
///
/// let server = Server::new(Dispatcher::new(Catalog::linked()?)?)?;
/// let proxy = Proxy::new(server.clone(), backends);
/// proxy.collect().await;
/// let following = async {
///     proxy.follow(|left_out| eprintln!("{left_out}")).await;
///     // The server is about to end, and is still to answer what runs.
///     std::future::pending().await
/// };
/// tokio::select! {
///     served = server.stdio() => served?,
///     () = following => {}
/// }
/// # Ok(()) }
/// ```
///
/// What the server was set up with holds for the tools of all: its filter, its names, its limits, and the state and the
/// layers of its dispatcher. Hints of foreign tools about their effects do not count for any of these, unless the host
/// trusts the backend or a lock holds the contract; see [`Backends::collect`].
///
/// A backend that is slow to start is served when it is there. Until all have answered, clients are told not to keep
/// the list (`ttlMs` is 0), and those that listen are told when it has changed. The tools of one that is gone stay for
/// a while, and their calls say that it is being restarted; see [`Backends::with_grace`].
#[derive(Debug)]
pub struct Proxy {
    server: Server,
    backends: Arc<Backends>,
    /// The tools that the server had before it had others.
    own: Vec<Tool>,
    wait: Duration,
    /// The contracts that were offered last. Held while tools are collected, so that what was collected first never
    /// replaces what was collected later.
    offered: Mutex<HashMap<ToolId, Tool>>,
}

/// Tools that are not served, with the reasons, and tools that have changed.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LeftOut {
    /// Diagnostics of tools that were left out, and differences from the lock, if there is one.
    pub diagnostics: Vec<Diagnostic>,
    /// The backends that could not be asked. Their tools are those that they had last, for a while, and then none.
    pub failures: Vec<Failure>,
    /// The tools of backends whose contract has changed since they were collected last.
    pub changes: Vec<ContractChange>,
}

/// Changes come in bursts; those within this time are one.
const BURST: Duration = Duration::from_millis(100);

/// How long to rest after collecting: as long as that took, but for waiting for somebody who does not answer.
const MAX_REST: Duration = Duration::from_secs(5);

/// The number of contracts that are remembered of tools that are no longer offered.
const MAX_GONE: usize = 1_000;

/// The default wait for slow backends.
const WAIT: Duration = Duration::from_secs(2);

impl Proxy {
    /// Sets up a server to serve the tools of `backends` too. The tools that it serves now, it always serves, and no
    /// backend takes the name of one.
    ///
    /// Only one proxy follows the same backends; see [`Backends::changed`].
    pub fn new(server: Server, backends: impl Into<Arc<Backends>>) -> Self {
        let own = server.served().dispatcher.catalog().iter().cloned().collect();
        server.shared.is_incomplete.store(true, Ordering::Release);
        Self { server, backends: backends.into(), own, wait: WAIT, offered: Mutex::default() }
    }

    /// Sets how long [`Proxy::follow`] waits for a backend that is slow to answer before it serves the tools of the
    /// others without it: 2 s by default. The tools of a slow backend are served as soon as it has answered.
    #[must_use]
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// Asks all backends for their tools, and serves those from now on. Calls that run come to their end, and clients
    /// that listen are told if the list has changed.
    ///
    /// A backend that cannot be asked, or a tool that cannot be served, is left out and hides no other.
    pub async fn collect(&self) -> LeftOut {
        let mut offered = self.offered.lock().await;
        self.serve(self.backends.collect(self.own()).await, &mut offered)
    }

    /// As [`Proxy::collect`], waiting for no backend longer than this; see [`Backends::collect_within`].
    pub async fn collect_within(&self, patience: Duration) -> LeftOut {
        let mut offered = self.offered.lock().await;
        self.serve(self.backends.collect_within(self.own(), patience).await, &mut offered)
    }

    fn own(&self) -> Catalog {
        Catalog::new(self.own.iter().cloned()).expect("they stood in a catalogue")
    }

    /// Collects whenever the tools of a backend may have changed, and tells what is left out then; until the server is
    /// [shut down](Server::shut_down), which may still answer calls that run when this returns.
    ///
    /// However often a backend says that its tools have changed, about half of the time is left for other things.
    pub async fn follow(&self, mut tell: impl FnMut(LeftOut)) {
        let following = async {
            loop {
                self.backends.changed().await;
                sleep(BURST).await;
                let started = Instant::now();
                tell(self.collect_within(self.wait).await);
                sleep(started.elapsed().min(MAX_REST)).await;
            }
        };
        tokio::select! {
            () = following => {}
            () = self.server.shared.shutdown.cancelled() => {}
        }
    }

    fn serve(&self, collected: Collected, offered: &mut HashMap<ToolId, Tool>) -> LeftOut {
        let Collected { catalog, routes, mut diagnostics, failures, offered: now, .. } = collected;
        let mut changes = Vec::new();
        // A tool that comes back is compared with what it was, as far as there is room for what has gone.
        if offered.len() > 2 * now.tools().count() + MAX_GONE {
            offered.clear();
        }
        for tool in now.tools() {
            let before = offered.insert(tool.id().clone(), tool.clone());
            changes.extend(before.and_then(|before| ContractChange::between(&before, tool)));
        }
        // One that comes back later is compared with what it was.
        let is_incomplete = failures.iter().any(|failure| failure.error.is_retryable());
        self.server.shared.is_incomplete.store(is_incomplete, Ordering::Release);
        let mut tools: Vec<Tool> = catalog.iter().cloned().collect();
        diagnostics.extend(self.leave_out_reserved(&mut tools));
        while let Err(error) = self.try_to_serve(&tools, &routes) {
            let losers = self.losers(&tools, &routes, error.diagnostics());
            diagnostics.extend(error.diagnostics().cloned());
            if losers.is_empty() {
                // There is something wrong with what the server has of its own; it stays as it is.
                break;
            }
            tools.retain(|tool| !losers.contains(tool.id()));
        }
        LeftOut { diagnostics, failures, changes }
    }

    /// Leaves out the tools of backends that clients would call by the name of one of the three that stand for many: the
    /// model would search with, or send its arguments to, a tool of another program.
    fn leave_out_reserved(&self, tools: &mut Vec<Tool>) -> Vec<Diagnostic> {
        let own: HashSet<&ToolId> = self.own.iter().map(Tool::id).collect();
        let mut diagnostics = Vec::new();
        tools.retain(|tool| {
            let name = self.server.shared.naming.wire_name(tool.id());
            let is_reserved = search_tools().iter().any(|reserved| reserved.name() == name);
            let is_left_out = is_reserved && !own.contains(tool.id());
            if is_left_out {
                let message = format!("`{}` is left out: `{name}` is a tool of this server itself", tool.id());
                diagnostics.push(Diagnostic::new(DiagnosticKind::WireName, message, [tool]));
            }
            !is_left_out
        });
        diagnostics
    }

    fn try_to_serve(&self, tools: &[Tool], routes: &Routes) -> Result<(), ServeError> {
        let catalog = Catalog::new(tools.iter().cloned())?;
        let dispatcher = self.server.served().dispatcher.with_catalog(catalog, routes.clone())?;
        self.server.replace(dispatcher)
    }

    /// The tools to leave out so that nothing of this is wrong any more: of several that are in each other's way, the
    /// first stays, in the order of trust.
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
            let kind = routes.of(tool.id()).next().map(ToolBackend::kind);
            let place = routes.owner(tool.id()).and_then(|owner| names.iter().position(|name| name == owner));
            (!own.contains(tool.id()), kind, place)
        };
        let mut losers = HashSet::new();
        for diagnostic in diagnostics {
            let mut concerned: Vec<&Tool> = diagnostic.tools().filter_map(|(id, _)| by_id.get(id).copied()).collect();
            concerned.sort_by_key(trust);
            let n_stay = usize::from(concerned.len() > 1);
            let leave = concerned.into_iter().skip(n_stay).map(Tool::id).filter(|id| !own.contains(id));
            losers.extend(leave.cloned());
        }
        losers
    }
}

impl LeftOut {
    /// Whether everything is served.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.diagnostics.is_empty() && self.failures.is_empty()
    }
}

/// One line or more for each thing.
impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let failures = self.failures.iter().map(|failure| failure.to_string());
        let changes = self.changes.iter().map(ToString::to_string);
        let texts: Vec<String> =
            failures.chain(self.diagnostics.iter().map(ToString::to_string)).chain(changes).collect();
        f.write_str(&texts.join("\n"))
    }
}
