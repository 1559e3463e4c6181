//! The servers of a proxy's views.

use std::fmt;
use std::sync::{Arc, Weak};

use tokio::sync::Notify;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::{Catalog, Tool};
use toolkit_backends::Backends;
use toolkit_runtime::Mutex;

use super::front::{Collection, Front};
use super::resources::ProxiedResources;
use super::unions::Unions;
use crate::request::Caller;
use crate::state::{ServerState, ViewServers};
use crate::subscriptions::Providers;
use crate::view::{ENDPOINT, View};

/// The views of a proxy, and a server for each union of them that a caller has.
pub(super) struct Views {
    /// The server of everything, which has these views.
    everything: Weak<ServerState>,
    backends: Arc<Backends>,
    /// The catalog and the resources of this program.
    own: Catalog,
    providers: Providers,
    reported: Arc<Notify>,
    grouped: Mutex<Grouped>,
}

#[derive(Default)]
struct Grouped {
    views: Vec<View>,
    /// The servers, by the positions of their views.
    unions: Unions,
    last: Option<Collection>,
}

impl Views {
    pub(super) fn new(
        everything: &Arc<ServerState>,
        backends: Arc<Backends>,
        own: Catalog,
        reported: &Arc<Notify>,
    ) -> Self {
        let providers = Providers::default();
        everything.resources.added().into_iter().for_each(|provider| providers.add(provider));
        let (everything, reported) = (Arc::downgrade(everything), Arc::clone(reported));
        Self { everything, backends, own, providers, reported, grouped: Mutex::default() }
    }

    /// Replaces the views, and their servers if a view has changed.
    pub(super) fn set(&self, views: Vec<View>) {
        let mut grouped = self.grouped.lock();
        if grouped.views != views {
            grouped.views = views;
            grouped.unions.clear();
        }
    }

    /// Serves a collection. Returns the rules of views that match no tool, once all backends have answered.
    pub(super) fn serve(&self, collection: Collection) -> Vec<Diagnostic> {
        let mut grouped = self.grouped.lock();
        for front in grouped.unions.fronts() {
            front.serve(&collection);
        }
        let tools: Vec<Tool> = collection.collected.catalog.iter().cloned().collect();
        let names = self.backends.names();
        let views = grouped.views.iter().filter(|_| collection.failures.is_empty());
        let diagnostics = views.flat_map(|view| view.rules_without_effect(&tools, &names));
        let diagnostics = diagnostics.map(|message| Diagnostic::new(DiagnosticKind::Unexpected, message, [])).collect();
        grouped.last = Some(collection);
        diagnostics
    }

    /// Returns the resources of all servers of views.
    pub(super) fn resources(&self) -> Vec<Arc<ProxiedResources>> {
        self.grouped.lock().unions.fronts().map(|front| Arc::clone(&front.resources)).collect()
    }
}

impl ViewServers for Views {
    fn server(&self, path: &str, caller: Option<&Caller>) -> Option<Arc<ServerState>> {
        let everything = self.everything.upgrade()?;
        let mut grouped = self.grouped.lock();
        let applies = |view: &View| view.is_at(path) && view.applies_to(caller);
        let applying: Vec<usize> =
            grouped.views.iter().enumerate().filter(|(_, view)| applies(view)).map(|(at, _)| at).collect();
        if applying.is_empty() && path != ENDPOINT {
            return None;
        }
        if applying.iter().any(|&at| grouped.views[at].is_unrestricted()) {
            return Some(everything);
        }
        let caller = caller.and_then(Caller::identity).unwrap_or_default();
        if let Some(front) = grouped.unions.get(&applying, &caller) {
            return Some(Arc::clone(&front.server.shared));
        }
        let views = applying.iter().map(|&at| grouped.views[at].clone()).collect();
        let own = (&self.own, &self.providers);
        let front = Front::of_views(views, &everything, &self.backends, own, &self.reported);
        let front = front.inspect_err(|error| tracing::error!(%error, "a view cannot be served")).ok()?;
        if let Some(collection) = &grouped.last {
            front.serve(collection);
        }
        let shared = Arc::clone(&front.server.shared);
        grouped.unions.insert(applying, front, &caller);
        Some(shared)
    }

    fn has_path(&self, path: &str) -> bool {
        self.grouped.lock().views.iter().any(|view| view.is_at(path))
    }

    fn of_program(&self) -> Vec<Arc<ServerState>> {
        let grouped = self.grouped.lock();
        let fronts = grouped.unions.fronts().filter(|front| front.has_program());
        fronts.map(|front| Arc::clone(&front.server.shared)).collect()
    }

    fn renew(&self) {
        let grouped = self.grouped.lock();
        if let Some(collection) = &grouped.last {
            grouped.unions.fronts().for_each(|front| drop(front.serve(collection)));
        }
    }
}

impl fmt::Debug for Views {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grouped = self.grouped.lock();
        let n_unions = grouped.unions.fronts().count();
        f.debug_struct("Views").field("views", &grouped.views).field("n_unions", &n_unions).finish_non_exhaustive()
    }
}
