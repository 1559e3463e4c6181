//! The dispatcher itself, and what its clones share: also the limits that a call, its arguments and its result must keep.

use std::sync::Arc;
use std::time::Duration;

use super::call_state::CallStates;
#[cfg(feature = "tower")]
use super::layer::ToolService;
use crate::backend::{Backend, Route, Routes, Selector};
use crate::call::permit::Limiter;
use crate::call::{Arguments, Coercion, Content, Context, ErrorKind, ToolError};
use crate::catalog::{Catalog, ExportedNames};
use crate::state::States;
use crate::tool::entry::Entry;
use crate::tool::{BackendKind, Tool};
use crate::unwind;
use toolkit_schema::{cancellable, is_too_deep};

/// The dispatcher, which runs the tools of a catalog.
///
/// Each call passes the same stages: the name is resolved, the arguments are validated against the input schema, the
/// function or backend runs, and its result is validated against the output schema. Clones share all state.
///
/// ```
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// assert_eq!(dispatcher.call_sync("add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dispatcher {
    pub(super) shared: Arc<Shared>,
    /// The names of an export, if only these are accepted.
    pub(super) names: Option<ExportedNames>,
    /// The coercion of arguments, unless the host has chosen one.
    pub(super) default_coercion: Coercion,
    /// The layers, if there are any.
    #[cfg(feature = "tower")]
    pub(super) layered: Option<ToolService>,
}

impl Dispatcher {
    /// Returns the changes that may be made to the arguments of a tool that a backend runs, or of a function.
    pub(super) fn coercion_of(&self, backend: Option<&dyn Backend>) -> Coercion {
        let chosen = backend.and_then(Backend::coercion).or(self.shared.policy.coercion);
        let is_of_other_server = backend.is_some_and(|backend| backend.kind() == BackendKind::Mcp);
        chosen.unwrap_or(if is_of_other_server { Coercion::default() } else { self.default_coercion })
    }
}

/// The parts of a dispatcher that its clones share.
pub(super) struct Shared {
    pub(super) catalog: Catalog,
    pub(super) routes: Routes,
    pub(super) selector: Option<Arc<Selector>>,
    pub(super) states: Arc<States>,
    pub(super) call_states: Arc<CallStates>,
    pub(super) policy: Policy,
    pub(super) limiter: Limiter,
}

/// The executor of a tool.
#[derive(Clone, Copy)]
pub(super) enum Executor<'s> {
    Function(&'static Entry),
    Backend(&'s Route),
}

impl Shared {
    /// Selects the executor of a tool.
    #[inline]
    pub(super) fn select<'s>(&'s self, tool: &'s Tool) -> Result<Executor<'s>, ToolError> {
        match tool.entry() {
            Some(entry) if self.selector.is_none() => Ok(Executor::Function(entry)),
            entry => self.select_of_several(tool, entry),
        }
    }

    #[cold]
    fn select_of_several<'s>(
        &'s self,
        tool: &'s Tool,
        entry: Option<&'static Entry>,
    ) -> Result<Executor<'s>, ToolError> {
        let selected = unwind::catch(|| self.routes.select(tool, self.selector.as_deref()));
        match (selected.map_err(unwind::Panic::into_host_error)??, entry) {
            (Some(route), _) => Ok(Executor::Backend(route)),
            (None, Some(entry)) => Ok(Executor::Function(entry)),
            (None, None) => Err(ToolError::new(ErrorKind::NoBackend, "no backend runs this tool")),
        }
    }
}

// A selector is a function, and states have arbitrary types.
crate::debug_fields!(Shared { catalog, routes, states, policy });

/// The settings for all calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) validate_input: bool,
    pub(crate) validate_output: bool,
    /// `None` if the host has not chosen one.
    pub(crate) coercion: Option<Coercion>,
    pub(crate) max_argument_bytes: usize,
    pub(crate) max_result_bytes: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) acquire_timeout: Duration,
}

/// The default limit of arguments: far more than a model sends.
const MAX_ARGUMENT_BYTES: usize = 16 << 20;

/// The default limit of results: more than a model reads, and small enough for a server to hold several.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// The default acquire timeout: longer than a model waits for a tool, and short enough to be noticed.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

impl Default for Policy {
    fn default() -> Self {
        Self {
            validate_input: true,
            validate_output: true,
            coercion: None,
            max_argument_bytes: MAX_ARGUMENT_BYTES,
            max_result_bytes: MAX_RESULT_BYTES,
            timeout: None,
            acquire_timeout: ACQUIRE_TIMEOUT,
        }
    }
}

impl Policy {
    /// Admits a call: reduces the credentials of its context to those that the tool requires, and rejects a call that
    /// lacks some of them, that is too large, or that is cancelled. `None` stands for the same context.
    #[inline(always)]
    pub(super) fn admit(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Option<&Arguments<'_>>,
    ) -> Result<Option<Box<Context>>, ToolError> {
        let scoped = if sees_all(context, tool) { None } else { Some(narrowed(context, tool)?) };
        match arguments {
            Some(arguments) => self.check_limits(context, arguments)?,
            None => check_cancelled(context)?,
        }
        Ok(scoped)
    }

    /// Rejects a call that is too large, nested too deeply, or cancelled, before its arguments are parsed.
    #[inline]
    pub(super) fn check_limits(&self, context: &Context, arguments: &Arguments<'_>) -> Result<(), ToolError> {
        if arguments.len() > self.max_argument_bytes {
            return Err(self.too_large(arguments));
        }
        // Validation and deserialization of a tree are recursive.
        if matches!(arguments, Arguments::Value(value) if is_too_deep(value)) {
            let message = "the arguments are nested deeper than 127 levels";
            return Err(ToolError::new(ErrorKind::MalformedJson, message));
        }
        check_cancelled(context)
    }

    #[cold]
    fn too_large(&self, arguments: &Arguments<'_>) -> ToolError {
        let (length, most) = (arguments.len(), self.max_argument_bytes);
        ToolError::new(ErrorKind::TooLarge, format!("the arguments have {length} bytes; the limit is {most}"))
    }

    /// Checks the size of a result.
    #[inline]
    pub(super) fn check_size(&self, n_bytes: usize) -> Result<(), ToolError> {
        if n_bytes > self.max_result_bytes { Err(self.result_too_large()) } else { Ok(()) }
    }

    /// Checks the size of content blocks, counting the parts of variable size.
    pub(super) fn check_content(&self, content: &[Content]) -> Result<(), ToolError> {
        self.check_size(content.iter().map(size).sum())
    }

    #[cold]
    pub(super) fn result_too_large(&self) -> ToolError {
        let message = format!("the result exceeds the limit of {} bytes (`max_result_bytes`)", self.max_result_bytes);
        ToolError::new(ErrorKind::ResultTooLarge, message)
    }
}

/// Rejects a cancelled call.
#[inline]
pub(super) fn check_cancelled(context: &Context) -> Result<(), ToolError> {
    if context.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    Ok(())
}

/// Runs `validate` for a value that needs a tree. A cancelled call does not go on validating.
pub(super) fn validate_cancellable<T>(
    context: &Context,
    validate: impl FnOnce() -> Result<T, ToolError>,
) -> Result<T, ToolError> {
    let call = context.clone();
    let validated = cancellable(move || call.is_cancelled(), validate);
    validated.map_err(|error| check_cancelled(context).err().unwrap_or(error))
}

fn size(content: &Content) -> usize {
    match content {
        Content::Text { text } => text.len(),
        Content::Image { data, .. } | Content::Audio { data, .. } => data.len(),
        Content::ResourceLink { uri, name, title, description, .. } => {
            let texts = [title, description].into_iter().flatten();
            uri.len() + name.len() + texts.map(String::len).sum::<usize>()
        }
        Content::Resource { resource } | Content::Other(resource) => {
            resource.values().filter_map(|value| value.as_str()).map(str::len).sum()
        }
    }
}

/// Returns true if the context has no credentials and the tool requires none, which is the common case.
#[inline]
pub(super) fn sees_all(context: &Context, tool: &Tool) -> bool {
    !context.has_credentials() && !tool.requires()
}

#[cold]
fn narrowed(context: &Context, tool: &Tool) -> Result<Box<Context>, ToolError> {
    context.scoped_to(tool.requirements()).map(Box::new).map_err(ToolError::missing_requirements)
}
