//! A server with the tools of backends: that of the proxy, or that of some of its views.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::slice::Iter;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use tokio::sync::Notify;
use toolkit::backend::Routes;
use toolkit::call::BoxFuture;
use toolkit::catalog::{Diagnostic, DiagnosticKind};
use toolkit::prompt::{Completion, CompletionRequest, Prompt};
use toolkit::tool::{ToolBackend, ToolId};
use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError};
use toolkit_backends::{BackendError, Backends, Collected};
use toolkit_runtime::Mutex;

use super::resources::ProxiedResources;
use crate::filter::{Filter, Rule};
use crate::find::search_tools;
use crate::listed_names::Claims;
use crate::proxied::{ListOutcome, Proxied, Sources};
use crate::served::{ServeError, ServedTools};
use crate::server::Server;
use crate::state::ServerState;
use crate::status::ServedBackend;
use crate::subscriptions::Providers;
use crate::view::View;

/// A server with the tools of backends.
#[derive(Debug)]
pub(super) struct Front {
    pub(super) server: Server,
    backends: Arc<Backends>,
    /// The tools and the prompts of this program.
    own: Catalog,
    pub(super) proxied: Arc<Proxied>,
    pub(super) resources: Arc<ProxiedResources>,
    /// The part of everything that it serves, or `None` for everything.
    part: Option<Part>,
}

/// A collection, from which several servers take their part.
#[derive(Debug)]
pub(super) struct Collection {
    /// Without its failures.
    pub(super) collected: Collected,
    pub(super) failures: Vec<ListFailure>,
}

/// A backend whose tools could not be listed.
#[derive(Debug)]
pub(super) struct ListFailure {
    backend: String,
    is_retryable: bool,
    /// The error, unless the backend has not answered yet.
    reason: Option<String>,
}

impl From<&BackendError> for ListFailure {
    fn from(failure: &BackendError) -> Self {
        let BackendError { backend, error, is_pending, .. } = failure;
        let reason = (!is_pending).then(|| error.message().to_owned());
        Self { backend: backend.clone(), is_retryable: error.is_retryable(), reason }
    }
}

/// The union of some views.
#[derive(Debug)]
struct Part {
    views: Vec<View>,
    shown: Arc<ShownBackends>,
}

/// The backends that a part contains. To its server, others do not exist.
#[derive(Debug)]
struct ShownBackends {
    backends: Arc<Backends>,
    names: Mutex<HashSet<String>>,
}

impl Front {
    /// Adds the tools of `backends` to those of `server`.
    pub(super) fn new(server: Server, backends: Arc<Backends>, reported: &Arc<Notify>) -> Self {
        let shared = &server.shared;
        let own = shared.served().dispatcher.catalog().clone();
        shared.is_incomplete.store(true, Ordering::Release);
        let proxied = Arc::new(Proxied::new(Arc::<Backends>::clone(&backends)));
        // Before the first collection, the filter decides about no backend.
        let admitted = (shared.filter != Filter::all()).then(HashSet::new);
        let resources = Arc::new(ProxiedResources::new(Arc::clone(&backends), admitted, reported));
        let front = Self { server, backends, own, proxied, resources, part: None };
        front.set_own_claims();
        front
    }

    /// Creates the server of some views, which serves nothing before the first collection. `everything` is the server of the
    /// proxy, and `own` the catalog and the resources of this program.
    pub(super) fn of_views(
        views: Vec<View>,
        everything: &ServerState,
        backends: &Arc<Backends>,
        (own, providers): (&Catalog, &Providers),
        reported: &Arc<Notify>,
    ) -> Result<Self, ServeError> {
        let shown = Arc::new(ShownBackends { backends: Arc::clone(backends), names: Mutex::default() });
        let proxied = Arc::new(Proxied::new(Arc::<ShownBackends>::clone(&shown)));
        let resources = Arc::new(ProxiedResources::new(Arc::clone(backends), Some(HashSet::new()), reported));
        let has_program = views.iter().any(View::has_program);
        let offered = Providers::default();
        providers.added().into_iter().filter(|_| has_program).for_each(|provider| offered.add(provider));
        offered.add(Arc::<ProxiedResources>::clone(&resources));
        let dispatcher = everything.served().dispatcher.with_catalog(Catalog::new([])?, Routes::default())?;
        let filters = [&everything.filter, &everything.direct];
        let claims = Claims::default();
        let served = ServedTools::new(dispatcher, everything.naming, filters, &everything.metrics, &claims)?;
        let mut state = everything.of_views(served, offered, Arc::clone(&proxied));
        state.instructions = state.instructions.filter(|_| has_program);
        let (server, backends) = (Server { shared: Arc::new(state) }, Arc::clone(backends));
        #[cfg(feature = "skills")]
        if everything.resources.has_own() && has_program {
            crate::tool_skills::ToolSkills::add_to(&server.shared);
        }
        let front = Self { server, backends, own: own.clone(), proxied, resources, part: Some(Part { views, shown }) };
        front.set_own_claims();
        Ok(front)
    }

    /// Returns true if the server serves the tools and resources of this program.
    pub(super) fn has_program(&self) -> bool {
        self.part.as_ref().is_none_or(|part| part.views.iter().any(View::has_program))
    }

    fn set_own_claims(&self) {
        let own = self.own.iter().map(|tool| tool.id().clone()).collect();
        self.proxied.set_claims(Claims { own: Arc::new(own), ..Claims::default() });
    }

    /// Serves a collection. Returns the diagnostics of tools that cannot be served.
    pub(super) fn serve(&self, collection: &Collection) -> Vec<Diagnostic> {
        let collected = &collection.collected;
        let (names, catalog, routes) = match &self.part {
            None => (self.backends.names(), collected.catalog.clone(), Cow::Borrowed(&collected.routes)),
            Some(part) => {
                let (names, catalog, routes) = part.of(self.backends.names(), collection, &self.server.shared.filter());
                (names, catalog, Cow::Owned(routes))
            }
        };
        let routes = &*routes;
        let failures: Vec<&ListFailure> =
            collection.failures.iter().filter(|failure| names.contains(&failure.backend)).collect();
        let mut outcomes = outcomes(collection, &names);
        self.proxied.set_cache(collected.list_ttl_among(&names), collected.is_private);
        let mut diagnostics = Vec::new();
        // A backend that answers later may add tools, so the list is incomplete until then.
        let is_incomplete = failures.iter().any(|failure| failure.is_retryable);
        self.server.shared.is_incomplete.store(is_incomplete, Ordering::Release);
        if failures.is_empty() {
            diagnostics.extend(self.rules_without_effect(&catalog));
        }
        self.admit_resources(&names, &catalog, routes, &failures);
        self.resources.follow();
        let mut tools: Vec<Tool> = catalog.iter().map(|tool| self.with_proxied_ui(tool, routes)).collect();
        diagnostics.extend(self.leave_out_reserved(&mut tools));
        self.claim_names(&names, &catalog, &failures);
        while let Err(error) =
            self.dispatcher(&tools, catalog.prompts(), routes).and_then(|dispatcher| self.server.replace(dispatcher))
        {
            let losers = self.losers(&tools, routes, error.diagnostics());
            diagnostics.extend(error.diagnostics().cloned());
            if losers.is_empty() {
                // The tools of the server itself are at fault, so it keeps its current list.
                break;
            }
            tools.retain(|tool| !losers.contains(tool.id()));
        }
        for diagnostic in &diagnostics {
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
        let mut instructions = collected.instructions.clone();
        instructions.retain(|(name, _)| by_backend.contains_key(&**name));
        self.proxied.set_instructions(&instructions);
        let known = names.into_iter().map(|name| {
            let has_failed = failures.iter().any(|failure| failure.backend == name);
            let is_complete = outcomes.get(&name).is_some_and(ListOutcome::is_complete);
            // A backend has no tools only if it has answered so: its tools may be withheld.
            let tools = by_backend.remove(&*name).or_else(|| (is_complete && !has_failed).then(Vec::new));
            (name, tools)
        });
        self.proxied.record_tools(known.collect());
        self.proxied.record(outcomes);
        diagnostics
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
    fn admit_resources(&self, names: &[String], catalog: &Catalog, routes: &Routes, failures: &[&ListFailure]) {
        let filter = self.server.shared.filter();
        if *filter == Filter::all() && self.part.is_none() {
            return;
        }
        let before = self.resources.admitted().unwrap_or_default();
        let mut admitted = HashSet::new();
        for name in names {
            let mut tools = catalog.iter().filter(|tool| routes.owner(tool.id()) == Some(name)).peekable();
            let is_unknown = tools.peek().is_none() && failures.iter().any(|failure| failure.backend == *name);
            let is_admitted = match *filter == Filter::all() {
                true => true,
                false if is_unknown => before.contains(name),
                false => filter.admits_resources_of(name, tools),
            };
            if is_admitted {
                admitted.insert(name.clone());
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
    fn claim_names(&self, servers: &[String], catalog: &Catalog, failures: &[&ListFailure]) {
        let shared = &self.server.shared;
        let mut claims = Claims::clone(&self.proxied.claims());
        let is_unknown = |name: &&String| {
            failures.iter().any(|failure| failure.backend == **name) && self.proxied.tools_of(name).is_none()
        };
        let (naming, filter) = (shared.naming, shared.filter());
        let tools = catalog.latest().filter(|tool| filter.admits_among(tool, catalog)).map(Tool::id);
        let tools = tools.filter(|id| !claims.own.contains(*id));
        let tools: Vec<&ToolId> = tools.collect();
        let mut bare = self.backends.names_without_prefix();
        bare.retain(|name| servers.contains(name));
        claims.tools.record(naming, tools.into_iter(), servers, servers.iter().filter(is_unknown), &bare);
        let prompts = catalog.latest_prompts().filter(|prompt| filter.admits(prompt.tool()));
        let prompts = prompts.filter(|prompt| prompt.tool().location().is_none()).map(Prompt::id);
        claims.prompts.record(naming, prompts, servers, servers.iter().filter(is_unknown), &bare);
        self.proxied.set_claims(claims);
    }

    /// Returns the dispatcher of some tools.
    fn dispatcher(&self, tools: &[Tool], prompts: Iter<'_, Prompt>, routes: &Routes) -> Result<Dispatcher, ServeError> {
        let catalog = Catalog::new(tools.iter().cloned())?.with_prompts(prompts.cloned())?;
        Ok(self.server.shared.served().dispatcher.with_catalog(catalog, routes.clone())?)
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

impl Part {
    /// Returns the backends and the tools of a collection that the part contains. Its tools that call tools reach those of
    /// the part that pass the filter of the server.
    fn of(&self, mut names: Vec<String>, collection: &Collection, filter: &Filter) -> (Vec<String>, Catalog, Routes) {
        let (Collected { catalog, routes, .. }, failures) = (&collection.collected, &collection.failures);
        let mut tools: HashMap<&str, Vec<&Tool>> = HashMap::new();
        for tool in catalog.iter() {
            tools.entry(routes.owner(tool.id()).unwrap_or_default()).or_default().push(tool);
        }
        let before = std::mem::take(&mut *self.shown.names.lock());
        names.retain(|name| {
            let tools = tools.get(&**name).map_or(&[][..], Vec::as_slice);
            let has_failed = failures.iter().any(|failure| failure.backend == *name);
            let before = has_failed.then(|| before.contains(name));
            self.views.iter().any(|view| view.admits_resources_of(name, tools, before))
        });
        *self.shown.names.lock() = names.iter().cloned().collect();
        let has_tool = |tool: &Tool, owner| self.views.iter().any(|view| view.admits(tool, owner, catalog));
        let is_shown = |tool: &&Tool| !routes.calls_tools(tool.id()) && has_tool(tool, routes.owner(tool.id()));
        let mut shown: Vec<Tool> = catalog.iter().filter(is_shown).cloned().collect();
        let reached = Catalog::new(shown.iter().filter(|tool| filter.admits_among(tool, catalog)).cloned());
        let mut part_routes = routes.clone();
        let callers = reached.map_err(ToolError::internal).and_then(|reached| part_routes.restrict(&reached));
        let callers =
            callers.inspect_err(|error| tracing::error!(%error, "a view has no programs")).unwrap_or_default();
        let is_caller = |tool: &Tool| self.views.iter().any(|view| view.admits_caller_of_tools(tool));
        shown.extend(callers.into_iter().filter(is_caller));
        // A prompt of a backend is in its namespace.
        let prompts = catalog.prompts().filter(|prompt| {
            let is_own = prompt.tool().location().is_some();
            has_tool(prompt.tool(), prompt.id().namespace().filter(|_| !is_own))
        });
        let shown = Catalog::new(shown).and_then(|shown| shown.with_prompts(prompts.cloned()));
        (names, shown.expect("a part of a catalog has no conflicts that the catalog has not"), part_routes)
    }
}

impl ShownBackends {
    fn has(&self, name: &str) -> bool {
        self.names.lock().contains(name)
    }
}

impl Sources for ShownBackends {
    fn holds_sessions(&self) -> bool {
        self.backends.holds_sessions(|name| self.has(name))
    }

    fn end_session(&self, session: &str) {
        self.backends.end_session(session);
    }

    fn is_enabled(&self, backend: &str) -> bool {
        self.has(backend) && Sources::is_enabled(&*self.backends, backend)
    }

    fn has_resources(&self, backend: &str) -> bool {
        self.has(backend) && Sources::has_resources(&*self.backends, backend)
    }

    fn complete<'a>(
        &'a self,
        backend: &'a str,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>> {
        match self.has(backend) {
            true => Sources::complete(&*self.backends, backend, request, context),
            false => Box::pin(async { Ok(Completion::default()) }),
        }
    }

    fn report(&self) -> Vec<ServedBackend> {
        let mut report = Sources::report(&*self.backends);
        report.retain(|backend| self.has(&backend.name));
        report
    }
}

/// Summarizes a collection by backend.
fn outcomes(collection: &Collection, names: &[String]) -> HashMap<String, ListOutcome> {
    let outcome = |name: &String| {
        let mut outcome = ListOutcome::default();
        collection.collected.diagnostics_of(name).for_each(|diagnostic| outcome.leave_out(diagnostic.message()));
        let failure = collection.failures.iter().find(|failure| failure.backend == *name);
        outcome.failure = failure.and_then(|failure| failure.reason.clone());
        (name.clone(), outcome)
    };
    names.iter().map(outcome).collect()
}
