//! The backends of a proxy, as the server sees them, and the outcome of their last collection.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use toolkit::backend::BackendState;
use toolkit::call::BoxFuture;
use toolkit::prompt::{Completion, CompletionRequest};
use toolkit::{Context, Tool, ToolError};
use toolkit_runtime::Mutex;

use super::listed_names::Claims;
use super::proxy_uri::Origin;
use super::served::ServedTools;
use super::status::ServedBackend;

/// The questions of the server to the backends of a proxy, which the feature `proxy` implements.
pub(super) trait Sources: fmt::Debug + Send + Sync {
    /// Returns true if an enabled backend holds something for each session.
    fn holds_sessions(&self) -> bool;

    /// Ends what the backends hold for a session.
    fn end_session(&self, session: &str);

    /// Returns true if there is an enabled backend with this name.
    fn is_enabled(&self, backend: &str) -> bool;

    /// Returns true if an enabled backend has resources.
    fn has_resources(&self, backend: &str) -> bool;

    /// Returns values for an argument of a backend's resource template.
    fn complete<'a>(
        &'a self,
        backend: &'a str,
        request: &'a CompletionRequest,
        context: &'a Context,
    ) -> BoxFuture<'a, Result<Completion, ToolError>>;

    /// Reports the states of the backends, without their tools.
    fn report(&self) -> Vec<ServedBackend>;
}

/// The backends of a proxy and the outcome of their last collection.
#[derive(Debug)]
pub(super) struct Proxied {
    backends: Arc<dyn Sources>,
    last: Mutex<Last>,
    claims: Mutex<Arc<Claims>>,
}

/// The outcome of a collection, by backend.
#[derive(Debug, Default)]
struct Last {
    of: HashMap<String, ListOutcome>,
    /// The served tools of each backend whose tools have been known.
    tools: HashMap<String, Arc<[Tool]>>,
    configuration_errors: Vec<String>,
    instructions: String,
    /// The least time for which clients may cache the list of a backend.
    list_ttl: Option<Duration>,
    /// True if the list of a backend may depend on the user.
    is_private: bool,
}

/// The length in bytes to which the instructions of a backend are cut, and that of all together.
const MAX_INSTRUCTIONS: usize = 4 << 10;
const MAX_ALL_INSTRUCTIONS: usize = 16 << 10;

#[derive(Clone, Debug, Default)]
pub(super) struct ListOutcome {
    n_tools: usize,
    n_left_out: usize,
    reasons: Vec<String>,
    /// The error of listing the tools.
    pub(super) failure: Option<String>,
}

impl Proxied {
    pub(super) fn new(backends: Arc<dyn Sources>) -> Self {
        Self { backends, last: Mutex::default(), claims: Mutex::default() }
    }

    /// Returns what the listed names depend on.
    pub(super) fn claims(&self) -> Arc<Claims> {
        Arc::clone(&self.claims.lock())
    }

    pub(super) fn set_claims(&self, claims: Claims) {
        *self.claims.lock() = Arc::new(claims);
    }

    /// Returns true if a backend holds something for each session.
    pub(super) fn holds_sessions(&self) -> bool {
        self.backends.holds_sessions()
    }

    /// Ends what the backends hold for a session.
    pub(super) fn end_session(&self, session: &str) {
        self.backends.end_session(session);
    }

    /// Returns the origin of the URIs of a backend. A backend that was removed meanwhile may have had resources.
    pub(super) fn origin<'b>(&self, backend: &'b str) -> Origin<'b> {
        let has_resources = !self.backends.is_enabled(backend) || self.backends.has_resources(backend);
        Origin { backend, has_resources }
    }

    /// Returns values for an argument of a backend's resource template.
    pub(super) async fn complete(
        &self,
        backend: &str,
        request: &CompletionRequest,
        context: &Context,
    ) -> Result<Completion, ToolError> {
        self.backends.complete(backend, request, context).await
    }

    pub(super) fn record(&self, outcomes: HashMap<String, ListOutcome>) {
        self.last.lock().of = outcomes;
    }

    /// Records the served tools by backend. `None` keeps those of a backend whose tools are not known at the moment.
    pub(super) fn record_tools(&self, tools: HashMap<String, Option<Vec<Tool>>>) {
        let mut last = self.last.lock();
        last.tools.retain(|backend, _| tools.contains_key(backend));
        last.tools.extend(tools.into_iter().filter_map(|(backend, tools)| Some((backend, tools?.into()))));
    }

    /// Sets for how long clients may cache the lists of the backends, and whether one of them may depend on the user.
    pub(super) fn set_cache(&self, list_ttl: Option<Duration>, is_private: bool) {
        let mut last = self.last.lock();
        (last.list_ttl, last.is_private) = (list_ttl, is_private);
    }

    /// Returns the least time for which clients may cache the list of a backend, of those that state one.
    pub(super) fn list_ttl(&self) -> Option<Duration> {
        self.last.lock().list_ttl
    }

    /// Returns true if the list of a backend may depend on the user.
    pub(super) fn is_private(&self) -> bool {
        self.last.lock().is_private
    }

    /// Returns the served tools of a backend, or `None` if its tools have never been known.
    pub(super) fn tools_of(&self, backend: &str) -> Option<Arc<[Tool]>> {
        self.last.lock().tools.get(backend).cloned()
    }

    /// Sets the instructions of backends, by their names.
    pub(super) fn set_instructions(&self, instructions: &[(String, String)]) {
        let mut all = String::new();
        for (name, text) in instructions {
            let end = text.floor_char_boundary(MAX_INSTRUCTIONS);
            let cut = if end < text.len() { "…" } else { "" };
            let text = format!("Instructions for the tools of `{name}`:\n{}{cut}", text[..end].trim());
            if all.len() + text.len() <= MAX_ALL_INSTRUCTIONS {
                all.push_str(if all.is_empty() { "" } else { "\n\n" });
                all.push_str(&text);
            }
        }
        self.last.lock().instructions = all;
    }

    /// Returns the instructions of all backends.
    pub(super) fn instructions(&self) -> String {
        self.last.lock().instructions.clone()
    }

    /// Returns why the tools of a backend are not known, if `tool` would be the listed name of one of them.
    pub(super) fn why_missing(&self, tool: &str) -> Option<String> {
        let is_of = |name: &str| tool.strip_prefix(&name.replace('.', "_")).is_some_and(|rest| rest.starts_with('_'));
        let mut backends = self.backends().into_iter();
        let backend = backends.find(|backend| is_of(&backend.name) && self.tools_of(&backend.name).is_none())?;
        let name = backend.name;
        Some(match backend.state {
            BackendState::Idle | BackendState::Connecting | BackendState::Ready => {
                format!("the server `{name}` is starting, so its tools are not known yet; try again in a few seconds")
            }
            _ => {
                let reason = backend.last_error.map(|error| format!(": {error}")).unwrap_or_default();
                format!("the tools of the server `{name}` are not known{reason}")
            }
        })
    }

    pub(super) fn set_configuration_errors(&self, errors: Vec<String>) {
        self.last.lock().configuration_errors = errors;
    }

    pub(super) fn configuration_errors(&self) -> Vec<String> {
        self.last.lock().configuration_errors.clone()
    }

    pub(super) fn backends(&self) -> Vec<ServedBackend> {
        let mut backends = self.backends.report();
        let last = self.last.lock();
        for backend in &mut backends {
            last.of.get(&backend.name).cloned().unwrap_or_default().add_to(backend);
        }
        backends
    }

    /// Returns true if there is an enabled backend with this name.
    pub(super) fn has_backend(&self, name: &str) -> bool {
        self.backends.is_enabled(name)
    }
}

impl ListOutcome {
    /// Returns true if each tool of the backend is served.
    pub(super) fn is_complete(&self) -> bool {
        self.n_left_out == 0
    }

    pub(super) fn leave_out(&mut self, reason: &str) {
        self.n_left_out += 1;
        if self.reasons.len() < ServedBackend::MAX_REASONS {
            self.reasons.push(reason.to_owned());
        }
    }

    /// Counts the served tools of each backend.
    pub(super) fn count<'o>(
        outcomes: &mut HashMap<String, Self>,
        served: &ServedTools,
        owner: impl Fn(&toolkit::ToolId) -> Option<&'o str>,
    ) {
        for entry in &served.entries {
            let owner = owner(served.tool(entry).id());
            if let Some(outcome) = owner.and_then(|owner| outcomes.get_mut(owner)) {
                outcome.n_tools += 1;
            }
        }
    }

    /// Adds the outcome to the report of its backend.
    fn add_to(self, backend: &mut ServedBackend) {
        if let Some(failure) = self.failure
            && matches!(backend.state, BackendState::Ready | BackendState::Idle)
        {
            backend.state = BackendState::Failed;
            backend.last_error = Some(failure);
        }
        (backend.n_tools, backend.n_left_out, backend.reasons) = (self.n_tools, self.n_left_out, self.reasons);
    }
}
