//! Runs tools: the only path from a call to a result.

#[cfg(feature = "async")]
mod blocking;
mod builder;
mod elsewhere;
mod encode;
mod host;
#[cfg(feature = "tower")]
mod layer;
mod limit;
mod missing;
mod prepared;
mod result_size;
mod run;
mod typed;

use std::pin::pin;
use std::sync::Arc;

#[cfg(feature = "async")]
pub use self::blocking::BlockingThreads;
pub use self::builder::DispatcherBuilder;
// Not public API, as are the other hidden names. Used by generated code.
#[doc(hidden)]
pub use self::encode::{CHUNKS, CONTENT, Encode, Returns, STRUCTURED, STRUCTURED_WITH_CONTENT, UNFIT, UNIT};
#[doc(hidden)]
pub use self::host::Host;
#[cfg(feature = "tower")]
pub use self::layer::{Call, ToolService};
pub use self::prepared::Prepared;
#[doc(hidden)]
pub use self::run::{AsyncFunction, Function, Invocation, Run, SyncFunction, run_async, run_sync, run_waiting};
pub(crate) use self::typed::{Typed, TypedCall};
use crate::backend::{Route, Routes, Selector};
pub use crate::call::BoxFuture;
use crate::call::permit::{Limiter, Permit};
#[cfg(feature = "async")]
pub use crate::call::timer::sleep;
use crate::call::{Arguments, Coercion, Context, ErrorKind, RunResult, ToolError, unwind};
use crate::catalog::{Catalog, Problems};
use crate::schema::is_too_deep;
use crate::state::States;
use crate::stream::{CallStream, Queue, reporting_to};
use crate::tool::{Entry, Tool};

/// Runs the tools of a catalogue.
///
/// A call goes through the same stages each time: the name is resolved, the arguments are checked against the input
/// schema, the function runs, its result is checked against the output schema. Clones share everything.
#[derive(Clone, Debug)]
pub struct Dispatcher {
    shared: Arc<Shared>,
    /// The layers around it, if there are any.
    #[cfg(feature = "tower")]
    layered: Option<ToolService>,
}

struct Shared {
    catalog: Catalog,
    routes: Routes,
    selector: Option<Arc<Selector>>,
    states: Arc<States>,
    policy: Policy,
    limiter: Limiter,
}

/// What a dispatcher asks of every call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) validate_input: bool,
    pub(crate) validate_output: bool,
    pub(crate) coercion: Coercion,
    pub(crate) max_argument_bytes: usize,
    pub(crate) max_result_bytes: usize,
    pub(crate) timeout: Option<std::time::Duration>,
    pub(crate) acquire_timeout: std::time::Duration,
}

impl Dispatcher {
    /// A dispatcher for tools that borrow nothing from their host.
    ///
    /// # Errors
    ///
    /// Every tool that borrows something; see [`Dispatcher::builder`].
    pub fn new(catalog: Catalog) -> Result<Self, Problems> {
        Self::builder(catalog).build()
    }

    /// A dispatcher that is given state, limits and policies.
    pub fn builder(catalog: Catalog) -> DispatcherBuilder {
        DispatcherBuilder::new(catalog)
    }

    /// A dispatcher for other tools, and for the same host: the state, the limits, the policies and the layers of this
    /// one hold for both together. This one stays as it is, and so do its calls.
    ///
    /// # Errors
    ///
    /// As for [`DispatcherBuilder::build`].
    pub fn with_catalog(&self, catalog: Catalog, routes: Routes) -> Result<Self, Problems> {
        builder::check(&catalog, &self.shared.states, &self.shared.limiter)?;
        let Shared { selector, states, policy, limiter, .. } = &*self.shared;
        let shared = Shared {
            catalog,
            routes,
            selector: selector.clone(),
            states: Arc::clone(states),
            policy: *policy,
            limiter: limiter.clone(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            #[cfg(feature = "tower")]
            layered: self.layered.clone(),
        })
    }

    /// The tools that it runs.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Finds a tool by any of its names, for who calls it often: finding it is a tenth of what a small call costs.
    ///
    /// # Errors
    ///
    /// The name did not resolve.
    pub fn prepared(&self, name: &str) -> Result<Prepared<'_>, ToolError> {
        Ok(Prepared::of(self, self.shared.catalog.resolve(name)?))
    }

    /// Calls a tool by any of its names.
    ///
    /// A synchronous tool runs on the thread that polls, unless it is marked `blocking`.
    ///
    /// # Errors
    ///
    /// [`ToolError`] says which stage refused: the name did not resolve, the arguments did not fit, the tool failed or
    /// took too long, or it broke its own output schema.
    pub async fn call<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, name, arguments).await
    }

    /// Calls a tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`].
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_with(context, arguments).await
    }

    /// Calls a tool, and gives what happens while it runs: see [`stream`](crate::stream).
    ///
    /// A name that does not resolve is an error event, like every other error.
    pub fn stream<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        self.stream_with(Context::EMPTY, name, arguments)
    }

    /// As [`Dispatcher::stream`], with a context of the host's. A listener of the context hears the progress too.
    pub fn stream_with<'a>(&self, context: &Context, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        let tool = match self.shared.catalog.resolve(name) {
            Ok(tool) => tool,
            Err(error) => return CallStream::refused(name.to_owned().into(), error),
        };
        let queue = Arc::new(Queue::default());
        // A clone of a tool that nobody has looked at would build its schemas for itself.
        let place = self.shared.catalog.place_of(tool);
        let (dispatcher, arguments) = (self.clone(), arguments.into().into_owned());
        let (id, parts) = (tool.id_text(), Arc::clone(&queue));
        let context = reporting_to(context.carried(), Arc::clone(&queue));
        let call = Box::pin(async move {
            let tool = dispatcher.shared.catalog.at(place);
            // Whatever happens, a stream ends in an event.
            let work = || dispatcher.run_layered(&context, tool, arguments, Some(&parts));
            let outcome = unwind::catch_future(work).await.unwrap_or_else(|panic| Err(panic.of_host()));
            outcome.map_err(|error| report(tool, error))
        });
        CallStream::new(id, queue, call)
    }

    /// Calls a synchronous tool, on this thread, with no runtime.
    ///
    /// A time limit cannot stop it.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call`]; an asynchronous tool is refused.
    pub fn call_sync<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, name, arguments)
    }

    /// Calls a synchronous tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Dispatcher::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_sync_with(context, arguments)
    }

    /// A call through the layers, if there are any.
    async fn run_layered(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Arguments<'_>,
        parts: Option<&Arc<Queue>>,
    ) -> Result<RunResult, ToolError> {
        #[cfg(feature = "tower")]
        if let Some(layered) = &self.layered {
            return layered.run(layer::Call::new(self, tool, context, arguments, parts)).await;
        }
        self.run(context, tool, arguments, parts.map(|parts| &**parts)).await
    }

    fn run_sync(&self, context: &Context, tool: &Tool, arguments: &Arguments<'_>) -> Result<RunResult, ToolError> {
        #[cfg(feature = "tower")]
        if self.layered.is_some() {
            let message = "there are layers around the tools, and they may wait; call it with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        }
        let Way::Function(entry) = self.shared.select(tool)? else {
            let message = "the tool runs elsewhere; call it with `Dispatcher::call`";
            return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
        };
        let lent;
        let context = if sees_all_of(context, tool) {
            context
        } else {
            lent = lend(context, tool)?;
            &lent
        };
        self.shared.policy.admit(context, arguments)?;
        let permit = self.shared.limiter.try_acquire(context.permits())?;
        let context = &*context.under(&permit);
        match Run::of(entry) {
            Run::Sync(run) | Run::Blocking(run) => {
                permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, arguments))))
            }
            Run::Async(_) => {
                let message = "the tool is asynchronous; call it with `Dispatcher::call` on a runtime";
                Err(ToolError::new(ErrorKind::NeedsRuntime, message))
            }
        }
    }

    async fn run(
        &self,
        context: &Context,
        tool: &Tool,
        arguments: Arguments<'_>,
        parts: Option<&Queue>,
    ) -> Result<RunResult, ToolError> {
        let entry = match self.shared.select(tool)? {
            Way::Function(entry) => entry,
            Way::Backend(route) => return Box::pin(self.run_elsewhere(context, tool, route, arguments, parts)).await,
        };
        let lent;
        let context = if sees_all_of(context, tool) {
            context
        } else {
            lent = lend(context, tool)?;
            &lent
        };
        self.shared.policy.admit(context, &arguments)?;
        let time_limit = tool.timeout().or(self.shared.policy.timeout);
        // A synchronous tool has ended once it is polled: where it need not wait for a permit, nothing can bound it.
        if let (Run::Sync(run), None) = (Run::of(entry), time_limit)
            && let Ok(permit) = self.shared.limiter.try_acquire(context.permits())
        {
            let context = &*context.under(&permit);
            return permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))));
        }
        // Pinned here, so that what wraps it moves a pointer and not the whole of it.
        let work = pin!(async {
            let permit = self.shared.acquire(context).await?;
            let context = &*context.under(&permit);
            match Run::of(entry) {
                Run::Sync(run) => {
                    permit.run(|| unwind::caught(|| run(self.invocation(context, tool, entry, &arguments))))
                }
                Run::Async(run) => {
                    let invocation = Invocation { parts, ..self.invocation(context, tool, entry, &arguments) };
                    permit.poll(unwind::caught_future(|| run(invocation))).await
                }
                // On the heap, since most calls are none of these and would make room for it.
                Run::Blocking(run) => {
                    let arguments = arguments.into_owned();
                    let idx = self.shared.catalog.place_of(tool);
                    let work = move |dispatcher: &Self, context: &Context| {
                        let tool = dispatcher.shared.catalog.at(idx);
                        run(dispatcher.invocation(context, tool, entry, &arguments))
                    };
                    Box::pin(self.run_blocking(context, permit, work)).await
                }
            }
        });
        limit::bounded(work, context, time_limit).await
    }

    /// Runs `work` on a thread that may block. When nobody waits for it any more it is told so, and keeps its permit
    /// until it has come to its end.
    #[cfg(feature = "async")]
    async fn run_blocking<T: Send + 'static>(
        &self,
        context: &Context,
        permit: Permit,
        work: impl FnOnce(&Self, &Context) -> Result<T, ToolError> + Send + 'static,
    ) -> Result<T, ToolError> {
        let threads = context.get::<BlockingThreads>().cloned();
        let (context, _abandoned) = context.carried().abandonable();
        let dispatcher = self.clone();
        let work = move || permit.run(|| unwind::caught(|| work(&dispatcher, &context)));
        let finished = match (threads, tokio::runtime::Handle::try_current()) {
            (Some(threads), _) => threads.run(work).await,
            (None, Ok(runtime)) => runtime.spawn_blocking(work).await.ok(),
            (None, Err(_)) => {
                let message = "the tool blocks its thread; call it on a tokio runtime";
                return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
            }
        };
        finished.unwrap_or_else(|| {
            let message = "the runtime shut down before the tool had run";
            Err(ToolError::new(ErrorKind::Cancelled, message))
        })
    }

    #[cfg(not(feature = "async"))]
    async fn run_blocking<T>(
        &self,
        context: &Context,
        permit: Permit,
        work: impl FnOnce(&Self, &Context) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        permit.run(|| unwind::caught(|| work(self, context)))
    }

    fn invocation<'a>(
        &'a self,
        context: &'a Context,
        tool: &'a Tool,
        entry: &'static Entry,
        arguments: &'a Arguments<'a>,
    ) -> Invocation<'a> {
        let host = Host::new(context, self, tool);
        Invocation { tool, entry, arguments, host, policy: &self.shared.policy, parts: None }
    }
}

impl Shared {
    async fn acquire(&self, context: &Context) -> Result<Permit, ToolError> {
        self.limiter.acquire(context.permits(), self.policy.acquire_timeout).await
    }

    /// What runs the tool.
    #[inline]
    fn select<'s>(&'s self, tool: &'s Tool) -> Result<Way<'s>, ToolError> {
        match tool.entry() {
            Some(entry) if self.selector.is_none() => Ok(Way::Function(entry)),
            entry => self.select_of_several(tool, entry),
        }
    }

    #[cold]
    fn select_of_several<'s>(&'s self, tool: &'s Tool, entry: Option<&'static Entry>) -> Result<Way<'s>, ToolError> {
        let selected = unwind::catch(|| self.routes.select(tool, self.selector.as_deref()));
        match (selected.map_err(unwind::Panic::of_host)??, entry) {
            (Some(route), _) => Ok(Way::Backend(route)),
            (None, Some(entry)) => Ok(Way::Function(entry)),
            (None, None) => Err(ToolError::new(ErrorKind::NoBackend, "nothing here runs this tool")),
        }
    }
}

impl Policy {
    /// Refuses what need not be looked at.
    #[inline]
    fn admit(&self, context: &Context, arguments: &Arguments<'_>) -> Result<(), ToolError> {
        if arguments.len() > self.max_argument_bytes {
            return Err(self.too_large(arguments));
        }
        // A tree is walked by recursion, here and in the type it becomes.
        if matches!(arguments, Arguments::Value(value) if is_too_deep(value)) {
            let message = "the arguments are nested deeper than 127 levels";
            return Err(ToolError::new(ErrorKind::MalformedJson, message));
        }
        check_cancelled(context)
    }

    #[cold]
    fn too_large(&self, arguments: &Arguments<'_>) -> ToolError {
        let (length, most) = (arguments.len(), self.max_argument_bytes);
        ToolError::new(ErrorKind::TooLarge, format!("the arguments have {length} bytes; at most {most} are taken"))
    }
}

#[inline]
fn check_cancelled(context: &Context) -> Result<(), ToolError> {
    if context.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    Ok(())
}

/// What runs a tool.
enum Way<'s> {
    Function(&'static Entry),
    Backend(&'s Route),
}

// A selector is a function, and states are of any type.
impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("catalog", &self.catalog)
            .field("routes", &self.routes)
            .field("states", &self.states)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

/// Whether nothing in the context has to be kept from the tool, and nothing has to be there: so it is with most calls.
#[inline]
fn sees_all_of(context: &Context, tool: &Tool) -> bool {
    !context.has_credentials() && !tool.requires()
}

/// The context as the tool may see it: with the credentials that it requires, and no others.
#[cold]
fn lend(context: &Context, tool: &Tool) -> Result<Context, ToolError> {
    context.lend(tool.requirements()).map_err(ToolError::missing_requirements)
}

/// Puts the tool's name on an error, and logs what a model must not read.
#[cold]
fn report(tool: &Tool, error: ToolError) -> ToolError {
    let error = error.of_tool(&tool.id_text());
    let error = match tool.function_backend() {
        Some(function) => error.of_backend(function),
        None => error,
    };
    if let ErrorKind::Internal | ErrorKind::Panicked | ErrorKind::InvalidAnswer | ErrorKind::InvalidOutput =
        error.kind()
    {
        let cause = std::error::Error::source(&error).map(unwind::text_of);
        tracing::error!(
            tool = &*tool.id_text(),
            kind = ?error.kind(),
            cause = cause.as_deref().unwrap_or_default(),
            "tool failed"
        );
    }
    error
}
