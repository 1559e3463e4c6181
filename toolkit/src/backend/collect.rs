//! From the tools of several backends to one catalogue.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

use super::registry::Registered;
use super::{Offers, Route, Routes};
use crate::call::ToolError;
use crate::catalog::{Catalog, Problem, ProblemKind};
use crate::schema::shown_id;
use crate::tool::{Tool, ToolId};

/// What came of [`Backends::collect`](super::Backends::collect).
#[derive(Debug)]
#[non_exhaustive]
pub struct Collected {
    /// The tools of all.
    pub catalog: Catalog,
    /// Which backends run which of them.
    pub routes: Routes,
    /// What is wrong with the tools that were left out.
    pub problems: Vec<Problem>,
    /// The backends that could not be asked.
    pub failures: Vec<Failure>,
}

/// A backend that did not do what was asked of it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Failure {
    /// Its name.
    pub backend: String,
    /// Why.
    pub error: ToolError,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.backend, self.error)
    }
}

impl Collected {
    pub(super) fn of(base: Catalog, mut asked: Vec<(Arc<Registered>, Result<Offers, ToolError>)>) -> Self {
        // Stable: those of one kind stay in the order of their registration.
        asked.sort_by_key(|(registered, _)| registered.backend().kind());
        let mut gathered = Gathered::default();
        let mut failures = Vec::new();
        for (backend, answer) in asked {
            match answer {
                Ok(offers) => gathered.add(&base, &backend, offers),
                Err(error) => failures.push(Failure { backend: backend.name().to_owned(), error }),
            }
        }
        let Gathered { tools, routes, mut problems, .. } = gathered;
        let catalog = join(base, tools, &mut problems);
        Self { catalog, routes, problems, failures }
    }
}

/// The tools of backends, while they are gathered.
#[derive(Default)]
struct Gathered {
    tools: Vec<Tool>,
    place_of: HashMap<ToolId, usize>,
    /// Whose a tool is, by its id without a version.
    owner_of: HashMap<ToolId, Arc<Registered>>,
    routes: Routes,
    problems: Vec<Problem>,
}

impl Gathered {
    fn add(&mut self, base: &Catalog, backend: &Arc<Registered>, offers: Offers) {
        self.problems.extend(offers.problems);
        for (tool, target) in offers.tools {
            let tool = placed(tool, backend);
            let there = base.exact(tool.id()).or_else(|| self.place_of.get(tool.id()).map(|&place| &self.tools[place]));
            match there {
                Some(there) if !is_same_contract(there, &tool) => {
                    let message = format!(
                        "the backend `{}` has another tool `{}`, which is left out: it takes or gives something else",
                        backend.name(),
                        shown_id(tool.id()),
                    );
                    self.problems.push(Problem::new(ProblemKind::DuplicateId, message, [there]));
                    continue;
                }
                Some(_) => {}
                None if !self.may_add_version(base, backend, &tool) => {
                    let message = format!(
                        "the backend `{}` has another version of `{}`, which is left out: that tool is somebody else's",
                        backend.name(),
                        shown_id(&tool.id().unversioned()),
                    );
                    self.problems.push(Problem::new(ProblemKind::DuplicateId, message, [&tool]));
                    continue;
                }
                None => {
                    self.owner_of.entry(tool.id().unversioned()).or_insert_with(|| Arc::clone(backend));
                    self.place_of.insert(tool.id().clone(), self.tools.len());
                    self.tools.push(tool.clone());
                }
            }
            self.routes.add(tool.id().clone(), Route { backend: Arc::clone(backend), target });
        }
    }

    /// Whether the backend may give a tool a version that nobody has: the highest one answers to the name without a
    /// version, so a stranger's would take the name.
    fn may_add_version(&self, base: &Catalog, backend: &Arc<Registered>, tool: &Tool) -> bool {
        let owner = self.owner_of.get(&tool.id().unversioned());
        !base.has_any_version_of(tool.id()) && owner.is_none_or(|owner| Arc::ptr_eq(owner, backend))
    }
}

/// The tool in its namespace, without the former names that it claims: those are its author's to give in one program,
/// and not a stranger's among the tools of others.
fn placed(tool: Tool, backend: &Registered) -> Tool {
    match tool.id().namespace() {
        Some(_) => tool.without_aliases(),
        None => tool.in_namespace(backend.namespace().clone()),
    }
}

fn is_same_contract(a: &Tool, b: &Tool) -> bool {
    a.input() == b.input() && a.output() == b.output()
}

/// The catalogue of all tools that can stand in one. What cannot stand beside `base` is left out, and a problem.
fn join(base: Catalog, mut tools: Vec<Tool>, problems: &mut Vec<Problem>) -> Catalog {
    loop {
        let wrong = match Catalog::new(base.iter().chain(&tools).cloned()) {
            Ok(catalog) => return catalog,
            Err(wrong) => wrong,
        };
        let concerned: HashSet<&str> = wrong.iter().flat_map(Problem::tools).map(|(id, _)| id).collect();
        let before = tools.len();
        tools.retain(|tool| !concerned.contains(&*tool.id().to_string()));
        problems.extend(wrong.iter().cloned());
        if tools.len() == before {
            return base;
        }
    }
}
