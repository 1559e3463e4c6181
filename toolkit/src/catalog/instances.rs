//! Several instances of a toolset, each in its own namespace.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::Catalog;
use crate::state::{StateType, States};
use crate::tool::{Diagnostic, DiagnosticKind, Diagnostics, Instance, Namespace, Tool};

/// Several instances of one toolset, such as two sites of an issue tracker or two databases.
///
/// Every tool that borrows state of a type that has instances exists once for each of them, in the namespace of that
/// instance. State that the instance lacks comes from [`DispatcherBuilder::state`], which all instances share.
/// A namespace may hold state of several types: a tool that borrows two of them gets both.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::catalog::Instances;
/// use toolkit::{Catalog, Dispatcher, toolset};
///
/// struct Tracker { site: &'static str }
///
/// #[toolset(namespace = "tracker")]
/// impl Tracker {
///     /// Returns the address of an issue.
///     #[tool(read_only)]
///     fn address(&self, issue: u32) -> String {
///         format!("{}/issues/{issue}", self.site)
///     }
/// }
///
/// let instances = Instances::new()
///     .with("tracker_eu", Tracker { site: "https://eu.example.com" })
///     .with("tracker_us", Tracker { site: "https://us.example.com" });
/// let catalog = Catalog::linked()?.with_instances(instances)?;
/// let catalog = catalog.expect_ids(["tracker_eu:address", "tracker_us:address"])?;
///
/// let dispatcher = Dispatcher::new(catalog)?;
/// let result = dispatcher.call_sync("tracker_us:address", r#"{"issue": 7}"#)?;
/// assert_eq!(result.value(), "https://us.example.com/issues/7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`DispatcherBuilder::instance`] adds instances while a dispatcher is built.
///
/// [`DispatcherBuilder::state`]: crate::dispatch::DispatcherBuilder::state
/// [`DispatcherBuilder::instance`]: crate::dispatch::DispatcherBuilder::instance
#[derive(Default)]
#[must_use]
pub struct Instances {
    by_namespace: BTreeMap<String, States>,
}

impl Instances {
    /// Creates an empty set of instances.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an instance in a namespace.
    #[track_caller]
    pub fn with<T: Send + Sync + 'static>(self, namespace: impl Into<String>, state: T) -> Self {
        self.with_shared(namespace, Arc::new(state))
    }

    /// Adds an instance that the host keeps a reference to, or that is a `dyn Trait`.
    #[track_caller]
    pub fn with_shared<T: ?Sized + Send + Sync + 'static>(
        mut self,
        namespace: impl Into<String>,
        state: Arc<T>,
    ) -> Self {
        let states = self.by_namespace.entry(namespace.into()).or_default();
        states.insert(state, Location::caller());
        self
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_namespace.is_empty()
    }
}

impl fmt::Debug for Instances {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.by_namespace).finish()
    }
}

/// Replaces the tools that borrow state which has instances with one tool for each instance; see
/// [`Catalog::with_instances`]. A tool additionally stays in its own namespace if `shared` has all state that it borrows.
pub(super) fn multiplied(tools: Vec<Tool>, instances: Instances, shared: &States) -> Result<Vec<Tool>, Diagnostics> {
    let mut diagnostics = Vec::new();
    let instances = checked(instances, &mut diagnostics);
    let mut is_used = vec![false; instances.len()];
    // Backends run these tools, and the instances are for the functions of the same program, such as a worker.
    let is_foreign = !tools.is_empty() && tools.iter().all(|tool| tool.entry().is_none());
    let mut multiplied = Vec::with_capacity(tools.len());
    for tool in tools {
        let own: Vec<usize> = (0..instances.len()).filter(|&idx| borrows_from(&tool, &instances[idx])).collect();
        if own.is_empty() || state_types(&tool).all(|state| shared.has(state)) {
            multiplied.push(tool.clone());
        }
        for idx in own {
            is_used[idx] = true;
            multiplied.push(tool.clone().for_instance(Arc::clone(&instances[idx])));
        }
    }
    let unused = instances.iter().zip(is_used).filter(|(_, is_used)| !is_used && !is_foreign);
    diagnostics.extend(unused.map(|(instance, _)| {
        let message = format!(
            "the instance `{}` has no tools: no tool of the catalog borrows state of its type; if its toolset is \
             in another crate, link that with `toolkit::link!`",
            instance.namespace
        );
        Diagnostic::new(DiagnosticKind::InvalidInstance, message, [])
    }));
    Diagnostics::none_or(diagnostics).map(|()| multiplied)
}

/// Returns the instances with a valid namespace and at most one value of each type.
fn checked(instances: Instances, diagnostics: &mut Vec<Diagnostic>) -> Vec<Arc<Instance>> {
    let mut sound = Vec::new();
    for (namespace, states) in instances.by_namespace {
        for duplicate in &states.duplicates {
            let [first, second] = duplicate.locations;
            let message = format!(
                "the instance `{}` has two values of type `{}`, passed at {first} and at {second}; put each \
                 into a separate namespace",
                namespace.escape_debug(),
                duplicate.type_name,
            );
            diagnostics.push(Diagnostic::new(DiagnosticKind::DuplicateState, message, []));
        }
        match Namespace::new(namespace) {
            Ok(namespace) => sound.push(Arc::new(Instance { namespace, states })),
            Err(error) => {
                let message = format!("the name of an instance must be a namespace: {error}");
                diagnostics.push(Diagnostic::new(DiagnosticKind::InvalidInstance, message, []));
            }
        }
    }
    sound
}

/// Returns the types of state that a function borrows, unless the tool belongs to an instance.
fn state_types(tool: &Tool) -> impl Iterator<Item = &'static StateType> {
    tool.entry().into_iter().flat_map(|entry| entry.states).flatten()
}

fn borrows_from(tool: &Tool, instance: &Instance) -> bool {
    tool.instance().is_none() && state_types(tool).any(|state| instance.states.has(state))
}

/// Returns the namespaces of the instances in a catalog that hold state of this type.
pub(crate) fn namespaces_with(catalog: &Catalog, id: TypeId) -> Vec<&str> {
    let instances = catalog.records().filter_map(Tool::instance);
    let with_state = instances.filter(|instance| instance.states.location_of(id).is_some());
    let mut namespaces: Vec<&str> = with_state.map(|instance| &*instance.namespace).collect();
    namespaces.sort_unstable();
    namespaces.dedup();
    namespaces
}
