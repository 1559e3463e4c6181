//! Merging of the tools of several backends into one catalog.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use toolkit::backend::Routes;
use toolkit::call::ToolError;
use toolkit::catalog::{Catalog, Diagnostic, DiagnosticKind};
use toolkit::prompt::Prompt;
use toolkit::tool::{Annotations, Tool, ToolBackend, ToolId};
use toolkit_schema::shown_id;

use crate::error::BackendError;
use crate::foreign;
use crate::registered::{Registered, Remembered};
use crate::review::{Review, is_host_code, sorted, without_backend};

/// The result of [`Backends::collect`](crate::Backends::collect).
///
/// # Examples
///
/// Of two tools with one id and different schemas, the second is left out and reported:
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::{Catalog, Context, Tool};
/// use toolkit_backends::{Backends, LocalBackend};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let backends = Backends::new();
/// for argument in ["text", "document"] {
///     let tool = Tool::builder("count").namespace("words").input(json!({
///         "type": "object",
///         "properties": { argument: { "type": "string" } },
///     }));
///     let backend = LocalBackend::new(argument);
///     backend.add(tool.build()?, |_: Value, _: Context| async { Ok(json!(0)) });
///     backends.register(backend)?;
/// }
///
/// let collected = backends.collect(Catalog::new([])?).await;
/// assert_eq!(collected.catalog.len(), 1);
/// assert!(collected.diagnostics[0].message().starts_with("the backend `document` has another tool `words:count`"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Collected {
    /// The catalog of all tools and prompts.
    pub catalog: Catalog,
    /// The backends that run each tool.
    pub routes: Routes,
    /// Diagnostics of tools that were left out, and differences from the lock.
    pub diagnostics: Vec<Diagnostic>,
    /// The backends whose tools could not be listed. Their tools stay unchanged for a while; see
    /// [`Backends::with_grace`](crate::Backends::with_grace).
    pub failures: Vec<BackendError>,
    /// The tools that the backends offer, with every claim that they make, whether or not they are
    /// collected, sorted by id. A person reviews this list, and
    /// [`Backends::with_lock`](crate::Backends::with_lock) compares with it. Tools that the host
    /// added itself ([`BackendKind::Local`](toolkit::tool::BackendKind::Local)) are not included.
    pub offered: Vec<Tool>,
    /// The instructions of backends for the model, by the name of the backend.
    pub instructions: Vec<(String, String)>,
    /// True if the list of a backend may depend on the user.
    pub is_private: bool,
    /// The times for which clients may cache the lists of backends that state one.
    list_ttls: Vec<(String, Duration)>,
    /// The ranges of `diagnostics` that concern one backend.
    ranges: Vec<(String, Range<usize>)>,
}

/// The outcome of listing the tools of one backend.
pub(crate) struct Listed {
    pub(crate) backend: Arc<Registered>,
    /// The current list of tools, or the last known one.
    pub(crate) remembered: Option<Remembered>,
    pub(crate) error: Option<ToolError>,
    pub(crate) is_pending: bool,
}

impl Collected {
    pub(crate) fn new(base: Catalog, mut responses: Vec<Listed>, lock: Option<&[Tool]>) -> Self {
        // The sort is stable: backends of one kind stay in the order of their registration.
        responses.sort_by_key(|response| response.backend.backend().kind());
        let review = Review::new(&base, lock);
        let mut gathered = Gathered::default();
        if let Some(lock) = lock {
            gathered.diagnostics = without_backend(lock, responses.iter().map(|response| response.backend.name()));
        }
        let mut failures = Vec::new();
        for Listed { backend, remembered, error, is_pending } in responses {
            if let Some(remembered) = remembered {
                gathered.add_all(&base, &review, &backend, remembered);
            }
            if let Some(error) = error {
                failures.push(BackendError { backend: backend.name().to_owned(), error, is_pending });
            }
        }
        drop(review);
        let Gathered { tools, prompts, routes, mut diagnostics, offered, instructions, ranges, .. } = gathered;
        let Gathered { list_ttls, is_private, .. } = gathered;
        let catalog = join(base, tools, &mut diagnostics);
        let catalog = catalog.with_prompts(prompts).expect("a prompt is gathered once");
        let offered = sorted(offered);
        Self { catalog, routes, diagnostics, failures, offered, instructions, is_private, list_ttls, ranges }
    }

    /// Returns the least time for which clients may cache the list of one of these backends, of those that state one.
    #[must_use]
    pub fn list_ttl_among(&self, backends: &[String]) -> Option<Duration> {
        let ttls = self.list_ttls.iter().filter(|(name, _)| backends.contains(name));
        ttls.map(|(_, ttl)| *ttl).min()
    }

    /// Returns the diagnostics that concern the tools of one backend.
    pub fn diagnostics_of(&self, backend: &str) -> impl Iterator<Item = &Diagnostic> {
        let range = self.ranges.iter().find(|(name, _)| name == backend).map(|(_, range)| range.clone());
        self.diagnostics.get(range.unwrap_or_default()).into_iter().flatten()
    }
}

/// The tools of backends while they are collected.
#[derive(Default)]
struct Gathered {
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    /// The ids of the prompts, without a version.
    prompt_ids: HashSet<ToolId>,
    place_of: HashMap<ToolId, usize>,
    /// The backend that owns each tool, by the id without a version.
    owner_of: HashMap<ToolId, Arc<Registered>>,
    routes: Routes,
    diagnostics: Vec<Diagnostic>,
    offered: Vec<Tool>,
    instructions: Vec<(String, String)>,
    list_ttls: Vec<(String, Duration)>,
    is_private: bool,
    /// The ranges of `diagnostics` by backend.
    ranges: Vec<(String, Range<usize>)>,
}

impl Gathered {
    fn add_all(&mut self, base: &Catalog, review: &Review<'_>, backend: &Arc<Registered>, remembered: Remembered) {
        let Remembered { offers, is_trusted } = remembered;
        let start = self.diagnostics.len();
        self.diagnostics.extend(offers.diagnostics);
        self.list_ttls.extend(offers.list_ttl.map(|ttl| (backend.name().to_owned(), ttl)));
        self.is_private |= offers.is_private;
        self.instructions.extend(offers.instructions.map(|text| (backend.name().to_owned(), text)));
        let mut offered = HashSet::new();
        for (tool, target) in offers.tools {
            let tool = placed(tool, backend);
            let tool = if is_host_code(backend) { Ok(tool) } else { bounded(tool, backend) };
            let accepted = tool.and_then(|tool| {
                offered.insert(tool.id().clone());
                if !is_host_code(backend) {
                    self.offered.push(tool.clone());
                }
                let hints = offers.hints.get(tool.id());
                let tool = review.check(backend, is_trusted, tool)?;
                Ok(hints.map(|hints| foreign::with_hints(&tool, hints)).unwrap_or(tool))
            });
            if let Err(diagnostic) = accepted.and_then(|tool| self.add(base, tool, backend, target)) {
                self.diagnostics.push(diagnostic);
            }
        }
        for (prompt, target) in offers.prompts {
            if let Err(diagnostic) = self.add_prompt(base, prompt, backend, target) {
                self.diagnostics.push(diagnostic);
            }
        }
        self.diagnostics.extend(review.removed(backend, &offered));
        self.ranges.push((backend.name().to_owned(), start..self.diagnostics.len()));
    }

    fn add(
        &mut self,
        base: &Catalog,
        tool: Tool,
        backend: &Arc<Registered>,
        target: ToolBackend,
    ) -> Result<(), Diagnostic> {
        let there = base.with_id(tool.id()).or_else(|| self.place_of.get(tool.id()).map(|&place| &self.tools[place]));
        let left_out = |what: &str, why: &str, tool: &Tool| {
            let message = format!("the backend `{}` has another {what}, which is left out: {why}", backend.name());
            Err(Diagnostic::new(DiagnosticKind::DuplicateId, message, [tool]))
        };
        let id = shown_id(tool.id());
        match there {
            Some(there) if !is_same_contract(there, &tool) => {
                return left_out(&format!("tool `{id}`"), "it takes or gives something else", there);
            }
            // A backend that runs a known tool must claim the effects of that tool.
            Some(there) if !is_host_code(backend) && !confirms(&tool, there) => {
                return left_out(&format!("tool `{id}`"), "nothing confirms that it has the same effects", there);
            }
            Some(_) => {}
            None if !self.may_add_version(base, backend, &tool) => {
                let unversioned = shown_id(&tool.id().unversioned());
                return left_out(&format!("version of `{unversioned}`"), "that tool is somebody else's", &tool);
            }
            None => {
                self.owner_of.entry(tool.id().unversioned()).or_insert_with(|| Arc::clone(backend));
                self.place_of.insert(tool.id().clone(), self.tools.len());
                self.tools.push(tool.clone());
            }
        }
        self.routes.add(tool.id().clone(), Arc::clone(&backend.routed), target);
        Ok(())
    }

    /// Adds a prompt in the namespace of its backend.
    fn add_prompt(
        &mut self,
        base: &Catalog,
        prompt: Prompt,
        backend: &Arc<Registered>,
        target: ToolBackend,
    ) -> Result<(), Diagnostic> {
        let prompt = prompt.try_map(|tool| bounded(tool.in_namespace(backend.namespace().clone()), backend))?;
        let unversioned = prompt.id().unversioned();
        let is_own = base.prompts().any(|other| other.id().unversioned() == unversioned);
        if is_own || !self.prompt_ids.insert(unversioned) {
            let id = shown_id(prompt.id());
            let message = format!("the backend `{}` has another prompt `{id}`, which is left out", backend.name());
            return Err(Diagnostic::new(DiagnosticKind::DuplicateId, message, []));
        }
        self.routes.add_prompt(prompt.id().clone(), Arc::clone(&backend.routed), target);
        self.prompts.push(prompt);
        Ok(())
    }

    /// Returns true if the backend may add a new version of a tool. The highest version is the one
    /// that the name without a version resolves to, so a version from another backend would take
    /// over the name.
    fn may_add_version(&self, base: &Catalog, backend: &Arc<Registered>, tool: &Tool) -> bool {
        let owner = self.owner_of.get(&tool.id().unversioned());
        base.versions_of(&tool.id().unversioned()).next().is_none()
            && owner.is_none_or(|owner| Arc::ptr_eq(owner, backend))
    }
}

/// Puts the tool into its namespace and removes the aliases that it claims. Aliases are the
/// author's decision within one program; among the tools of other programs they could take over
/// names.
fn placed(tool: Tool, backend: &Registered) -> Tool {
    match tool.id().namespace() {
        Some(_) => tool.without_aliases(),
        None => tool.in_namespace(backend.namespace().clone()),
    }
}

/// Limits the length of the tool's texts.
fn bounded(tool: Tool, backend: &Registered) -> Result<Tool, Diagnostic> {
    let id = tool.id().clone();
    foreign::bounded(&tool).map_err(|reason| {
        let message =
            format!("the backend `{}` offers `{}`, which is left out: {reason}", backend.name(), shown_id(&id));
        Diagnostic::new(DiagnosticKind::TooLong, message, [])
    })
}

/// Returns true if a tool claims every effect that the known tool has.
fn confirms(tool: &Tool, known: &Tool) -> bool {
    let effects = |hints: &Annotations| [hints.read_only, hints.destructive, hints.idempotent, hints.open_world];
    let claims = std::iter::zip(effects(tool.annotations()), effects(known.annotations()));
    claims.into_iter().all(|(claimed, known)| known.is_none() || claimed == known)
}

fn is_same_contract(a: &Tool, b: &Tool) -> bool {
    a.input() == b.input() && a.output() == b.output()
}

/// Builds the catalog of all tools that can be combined. Tools that conflict with `base` or with
/// each other are left out and reported.
fn join(base: Catalog, mut tools: Vec<Tool>, diagnostics: &mut Vec<Diagnostic>) -> Catalog {
    loop {
        let joined = Catalog::new(base.iter().chain(&tools).cloned());
        let wrong = match joined.and_then(|catalog| catalog.with_prompts(base.prompts().cloned())) {
            Ok(catalog) => return catalog,
            Err(wrong) => wrong,
        };
        let concerned: HashSet<&str> = wrong.iter().flat_map(Diagnostic::tools).map(|(id, _)| id).collect();
        let before = tools.len();
        tools.retain(|tool| !concerned.contains(&*tool.id().to_string()));
        diagnostics.extend(wrong.iter().cloned());
        if tools.len() == before {
            return base;
        }
    }
}
