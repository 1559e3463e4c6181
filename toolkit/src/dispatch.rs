//! The dispatcher, which runs the tools of a catalog.
//!
//! [`Dispatcher::builder`] sets the state that tools borrow, the limits of calls and the layers around them. The
//! dispatcher is then immutable, and its clones share everything.
//!
//! ```
//! use std::time::Duration;
//!
//! use toolkit::{Coercion, Dispatcher, catalog, tool};
//!
//! struct Index(Vec<&'static str>);
//!
//! /// Finds titles that contain a word.
//! #[tool(read_only)]
//! fn find(word: String, index: &Index) -> Vec<&'static str> {
//!     index.0.iter().copied().filter(|title| title.contains(&word)).collect()
//! }
//!
//! let dispatcher = Dispatcher::builder(catalog![find]?)
//!     .state(Index(vec!["Old Peter", "New Peter", "Anna"]))
//!     .timeout(Duration::from_secs(10))
//!     .concurrency(64)
//!     .max_result_bytes(1 << 20)
//!     .coercion(Coercion::Lenient)
//!     .build()?;
//! let result = dispatcher.call_sync("find", r#"{"word": "Peter"}"#)?;
//! assert_eq!(result.value(), serde_json::json!(["Old Peter", "New Peter"]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | call | method |
//! |---|---|
//! | by name, with JSON | [`Dispatcher::call`], [`Dispatcher::call_sync`] |
//! | with a context: cancellation, progress, credentials | [`Dispatcher::call_with`], [`Dispatcher::call_sync_with`] |
//! | as a stream of progress and partial results | [`Dispatcher::stream`] |
//! | many times, resolved once | [`Dispatcher::prepared`] |
//! | with Rust types | [`Handle::call`](crate::Handle::call) |
//!
//! A call passes these modules:
//!
//! | module | part |
//! |---|---|
//! | `prepared` | a tool that is resolved by its name, and its calls |
//! | `layer` | the layers around a call |
//! | `pipeline` | the stages of every call, in order: select, admit, acquire a permit, run, report |
//! | `function` | a function of this program: decoding of its arguments, the function, `encode` of its result |
//! | `backend_call` | the same stages for a tool that a backend runs |
//! | `tree_memory` | the memory of the trees of arguments and results that no plan accepts |
//! | `call_state` | state that is computed for each call |
//! | `wait` | timeouts, cancellation, and the threads of `blocking` functions |
//! | `builder` | the configuration, and the check that the tools of the catalog can run with it |
//! | `shared` | the fields of a dispatcher, which all of these read, and the limits and settings that the stages apply |

mod backend_call;
mod builder;
mod call_state;
pub(crate) mod encode;
pub(crate) mod function;
#[cfg(feature = "tower")]
mod layer;
mod pipeline;
mod prepared;
mod shared;
mod tree_memory;
mod wait;

use std::sync::Arc;

pub use self::builder::DispatcherBuilder;
use self::builder::check;
#[cfg(feature = "tower")]
pub use self::layer::{Call, ToolService};
pub(crate) use self::pipeline::{Typed, TypedCall};
use self::pipeline::{report, run_layered, run_prompt, run_typed};
pub use self::prepared::Prepared;
pub use self::shared::Dispatcher;
use self::shared::{Executor, Shared};
#[cfg(feature = "async")]
pub use self::wait::BlockingThreads;
use crate::backend::Routes;
pub use crate::call::BoxFuture;
#[cfg(feature = "async")]
pub use crate::call::timer::sleep;
use crate::call::{Arguments, Coercion, Context, ErrorKind, RunResult, ToolError};
use crate::catalog::{Catalog, Diagnostics, ExportedNames};
use crate::prompt::{Completion, CompletionReference, CompletionRequest, Messages, Prompt, PromptMessage};
use crate::stream::{CallStream, Queue, reporting_to};
use crate::tool::{BackendKind, Tool, ToolId};
use crate::unwind;
use toolkit_schema::quoted;

impl Dispatcher {
    /// Creates a dispatcher for tools without injected state.
    ///
    /// # Errors
    ///
    /// Returns a diagnostic for every tool that borrows state; see [`Dispatcher::builder`].
    pub fn new(catalog: Catalog) -> Result<Self, Diagnostics> {
        Self::builder(catalog).build()
    }

    /// Creates a builder, which sets state, limits and policies.
    pub fn builder(catalog: Catalog) -> DispatcherBuilder {
        DispatcherBuilder::new(catalog)
    }

    /// Creates a dispatcher for another catalog that shares the state, limits, policies and layers of this one. The
    /// limits apply to the calls of both together. This dispatcher and its calls are not affected.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`DispatcherBuilder::build`].
    ///
    /// # Examples
    ///
    /// A host replaces its dispatcher when the tools of its backends change:
    ///
    /// ```
    /// use toolkit::backend::Routes;
    /// use toolkit::{Catalog, Dispatcher, catalog, tool};
    ///
    /// struct Greeting(&'static str);
    ///
    /// /// Greets a person.
    /// #[tool]
    /// fn greet(name: String, greeting: &Greeting) -> String {
    ///     format!("{}, {name}!", greeting.0)
    /// }
    ///
    /// let without_tools = Dispatcher::builder(Catalog::new([])?).state(Greeting("Hello")).build();
    /// let dispatcher = without_tools?.with_catalog(catalog![greet]?, Routes::default())?;
    /// assert_eq!(dispatcher.call_sync("greet", r#"{"name": "Ada"}"#)?.value(), "Hello, Ada!");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_catalog(&self, catalog: Catalog, routes: Routes) -> Result<Self, Diagnostics> {
        check(&catalog, &self.shared.states, &self.shared.limiter)?;
        let Shared { selector, states, call_states, policy, limiter, .. } = &*self.shared;
        let shared = Shared {
            catalog,
            routes,
            selector: selector.clone(),
            states: Arc::clone(states),
            call_states: Arc::clone(call_states),
            policy: *policy,
            limiter: limiter.clone(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            names: self.names.clone(),
            default_coercion: self.default_coercion,
            #[cfg(feature = "tower")]
            layered: self.layered.clone(),
        })
    }

    /// Returns the catalog.
    #[must_use]
    pub fn catalog(&self) -> &Catalog {
        &self.shared.catalog
    }

    /// Returns true if the tool calls other tools, according to its
    /// [backend](crate::backend::Backend::calls_tools). A server then prepares the contexts of these calls.
    #[must_use]
    pub fn calls_tools(&self, tool: &Tool) -> bool {
        self.shared.routes.calls_tools(tool.id())
    }

    /// Returns true if another MCP server runs the tool.
    #[must_use]
    pub fn is_proxied(&self, tool: &Tool) -> bool {
        tool.entry().is_none()
            && self.shared.routes.backends(tool.id()).next().is_some_and(|first| first.kind() == BackendKind::Mcp)
    }

    /// Returns the changes that may be made to the arguments of a tool: those that its
    /// [backend](crate::backend::Backend::coercion) states, or else those of
    /// [`DispatcherBuilder::coercion`], or else the default of this dispatcher.
    #[must_use]
    pub fn coercion(&self, tool: &Tool) -> Coercion {
        match self.shared.select(tool) {
            Ok(Executor::Backend(route)) => self.coercion_of(Some(route.backend.backend())),
            _ => self.coercion_of(None),
        }
    }

    /// Returns a dispatcher whose calls coerce arguments in this way, unless [`DispatcherBuilder::coercion`] or a
    /// [backend](crate::backend::Backend::coercion) has chosen another. Tools of other MCP servers keep
    /// [`Coercion::NullAsAbsent`]: their arguments are passed on as they came.
    ///
    /// Servers and the replies of providers do so with [`Coercion::Lossless`], since the clients of models send numbers,
    /// lists and objects as text. A call that a tool makes with the dispatcher of its own call is coerced like that call.
    ///
    /// ```
    /// use toolkit::{Coercion, Dispatcher, catalog, tool};
    ///
    /// /// Adds numbers.
    /// #[tool]
    /// fn sum(numbers: Vec<i64>) -> i64 {
    ///     numbers.iter().sum()
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![sum]?)?;
    /// let sent = r#"{"numbers": "[1, 2, 3]"}"#;
    /// assert!(dispatcher.call_sync("sum", sent).is_err());
    /// let of_models = dispatcher.with_default_coercion(Coercion::Lossless);
    /// assert_eq!(of_models.call_sync("sum", sent)?.value(), 6);
    ///
    /// let strict = Dispatcher::builder(catalog![sum]?).coercion(Coercion::Off).build()?;
    /// assert!(strict.with_default_coercion(Coercion::Lossless).call_sync("sum", sent).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_default_coercion(&self, coercion: Coercion) -> Self {
        Self { default_coercion: coercion, ..self.clone() }
    }

    /// Returns a dispatcher that accepts the names of an export: a model uses them in its calls, and in the chains that
    /// it writes. Ids are accepted as well, but only those of exported tools.
    ///
    /// ```
    /// use toolkit::catalog::{ExportedNames, Naming, WireNames};
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Adds two numbers.
    /// #[tool(namespace = "math")]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![add]?)?;
    /// let names = ExportedNames::from(&WireNames::new(dispatcher.catalog(), Naming::NamespaceName)?);
    /// let exported = dispatcher.with_names(names);
    /// assert_eq!(exported.call_sync("math_add", r#"{"a": 1, "b": 2}"#)?.value(), 3);
    /// assert!(dispatcher.call_sync("math_add", r#"{"a": 1, "b": 2}"#).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_names(&self, names: ExportedNames) -> Self {
        Self { names: Some(names), ..self.clone() }
    }

    /// Calls a tool by any of its names.
    ///
    /// A synchronous tool runs on the thread that polls the future, unless it is marked `blocking`.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// async fn repeat(text: String, times: u8) -> String {
    ///     text.repeat(times.into())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![repeat]?)?;
    /// let result = dispatcher.call("repeat", json!({ "text": "ab", "times": 2 })).await?;
    /// assert_eq!(result.value(), "abab");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name does not resolve, the arguments do not match the input schema, the tool fails or
    /// exceeds its timeout, or the result does not match the output schema. [`ToolError::stage`] returns the stage.
    pub async fn call<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_with(Context::EMPTY, name, arguments).await
    }

    /// Calls a tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`].
    ///
    /// # Examples
    ///
    /// A server passes the identity of the caller, which the tool reads from its context:
    ///
    /// ```
    /// use toolkit::{Context, Dispatcher, catalog, tool};
    ///
    /// struct User(String);
    ///
    /// /// Returns the name of the user.
    /// #[tool]
    /// async fn whoami(ctx: &Context) -> Option<String> {
    ///     ctx.get::<User>().map(|user| user.0.clone())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![whoami]?)?;
    /// let context = Context::new().with(User("ada".to_owned()));
    /// assert_eq!(dispatcher.call_with(&context, "whoami", "{}").await?.value(), "ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn call_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_with(context, arguments).await
    }

    /// Calls a synchronous tool on this thread, without a runtime.
    ///
    /// A timeout cannot stop the tool.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`], and an error if the tool is asynchronous.
    pub fn call_sync<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> Result<RunResult, ToolError> {
        self.call_sync_with(Context::EMPTY, name, arguments)
    }

    /// Calls a synchronous tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call_sync`].
    pub fn call_sync_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<RunResult, ToolError> {
        self.prepared(name)?.call_sync_with(context, arguments)
    }

    /// Resolves a tool by any of its names, for repeated calls: resolving takes a tenth of the time of a small call.
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// fn double(n: i64) -> i64 {
    ///     n * 2
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![double]?)?;
    /// let double = dispatcher.prepared("double")?;
    /// assert_eq!(double.call_sync(r#"{"n": 1}"#)?.value(), 2);
    /// assert_eq!(double.call_sync(r#"{"n": 2}"#)?.value(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the name does not resolve.
    pub fn prepared(&self, name: &str) -> Result<Prepared<'_>, ToolError> {
        Ok(Prepared { dispatcher: self, tool: self.resolve(name)? })
    }

    /// Returns the tool with exactly this id, or `None` if the catalog does not have it.
    #[must_use]
    pub fn prepared_id(&self, id: &ToolId) -> Option<Prepared<'_>> {
        Some(Prepared { dispatcher: self, tool: self.shared.catalog.with_id(id)? })
    }

    /// Returns the tool at a position of [`Catalog::iter`](crate::Catalog::iter), without resolving a name. A server that
    /// stores positions beside the names of its protocol resolves each call once.
    ///
    /// ```
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Doubles a number.
    /// #[tool]
    /// fn double(n: i64) -> i64 {
    ///     n * 2
    /// }
    ///
    /// let dispatcher = Dispatcher::new(catalog![double]?)?;
    /// let position = dispatcher.catalog().iter().position(|tool| tool.name() == "double").unwrap();
    /// assert_eq!(dispatcher.prepared_at(position).call_sync(r#"{"n": 2}"#)?.value(), 4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    ///
    /// Panics if the catalog has no tool at this position.
    #[must_use]
    pub fn prepared_at(&self, position: usize) -> Prepared<'_> {
        Prepared { dispatcher: self, tool: self.shared.catalog.at(position) }
    }

    /// Calls a tool and streams its progress and the parts of its result; see [`stream`](crate::stream).
    ///
    /// Every error is an event, including an unknown name.
    ///
    /// ```
    /// use toolkit::{Chunks, Dispatcher, catalog, tool};
    ///
    /// /// Counts up.
    /// #[tool]
    /// fn count(to: u8) -> Chunks<u8> {
    ///     Chunks::from_items(1..=to)
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![count]?)?;
    /// let mut events = dispatcher.stream("count", r#"{"to": 2}"#);
    /// let mut kinds = Vec::new();
    /// while let Some(event) = events.next().await {
    ///     kinds.push(event.event.kind());
    /// }
    /// assert_eq!(kinds, ["chunk", "chunk", "done"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stream<'a>(&self, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        self.stream_with(Context::EMPTY, name, arguments)
    }

    /// Streams a call with a context. A progress listener of the context still receives the progress.
    pub fn stream_with<'a>(&self, context: &Context, name: &str, arguments: impl Into<Arguments<'a>>) -> CallStream {
        let tool = match self.resolve(name) {
            Ok(tool) => tool,
            Err(error) => return CallStream::refused(name.to_owned().into(), error),
        };
        let queue = Arc::new(Queue::default());
        // A clone of the tool would build its schemas again.
        let place = self.shared.catalog.position(tool);
        let (dispatcher, arguments) = (self.clone(), arguments.into().into_owned());
        let (id, parts) = (tool.id_text(), Arc::clone(&queue));
        let context = reporting_to(context.carried(), Arc::clone(&queue));
        let call = Box::pin(async move {
            let tool = dispatcher.shared.catalog.at(place);
            // A stream ends with an event, even after a panic.
            let work = || run_layered(&dispatcher, &context, tool, arguments, Some(&parts));
            let outcome = unwind::catch_future(work).await.unwrap_or_else(|panic| Err(panic.into_host_error()));
            outcome.map_err(|error| report(tool, error))
        });
        CallStream::new(id, queue, call)
    }

    /// Returns the messages of a prompt. `name` is any name of the prompt. Arguments may be texts, as clients send them.
    /// Layers do not apply to prompts.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::call`].
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::prompt::PromptMessage;
    /// use toolkit::{Dispatcher, catalog, prompt};
    ///
    /// /// Asks for a poem.
    /// #[prompt]
    /// fn poem(lines: u8, about: String) -> String {
    ///     format!("Write {lines} lines about {about}.")
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::new(catalog![poem]?)?;
    /// let messages = dispatcher.prompt("poem", r#"{"lines": "4", "about": "rust"}"#).await?;
    /// assert_eq!(messages, [PromptMessage::user("Write 4 lines about rust.")]);
    ///
    /// let error = dispatcher.prompt("poem", r#"{"lines": "many", "about": "rust"}"#).await.unwrap_err();
    /// assert!(error.message().contains("/lines must be an integer"), "{error}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn prompt<'a>(
        &self,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        self.prompt_with(Context::EMPTY, name, arguments).await
    }

    /// Returns the messages of a prompt, with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::prompt`].
    pub async fn prompt_with<'a>(
        &self,
        context: &Context,
        name: &str,
        arguments: impl Into<Arguments<'a>>,
    ) -> Result<Vec<PromptMessage>, ToolError> {
        let result = self.run_prompt(context, self.resolve_prompt(name)?, arguments.into()).await?;
        let messages: Messages =
            serde_json::from_slice(result.json().unwrap_or_default()).map_err(ToolError::internal)?;
        Ok(messages.messages)
    }

    /// Returns values for an argument of a prompt; see [`Prompt::complete`](crate::prompt::Prompt::complete). The backend of
    /// a prompt completes its arguments itself.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such prompt or argument, or the error of the backend.
    pub async fn complete(&self, context: &Context, request: &CompletionRequest) -> Result<Completion, ToolError> {
        let CompletionReference::Prompt(name) = &request.reference else { return Ok(Completion::default()) };
        let prompt = self.resolve_prompt(name)?;
        if prompt.tool().entry().is_none() {
            let route = self.shared.routes.of_prompt(prompt.id())?;
            let request = request.with_reference(CompletionReference::Prompt(prompt.id().name().to_owned()));
            return route.backend.complete(&request, context).await;
        }
        prompt.complete(&request.argument, &request.value).ok_or_else(|| {
            let message = format!("the prompt `{}` has no argument {}", prompt.id(), quoted(&request.argument));
            ToolError::new(ErrorKind::InvalidArguments, message)
        })
    }

    /// Runs a prompt of the catalog, and returns the result of `prompts/get` of MCP as its JSON.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Dispatcher::prompt`].
    pub async fn run_prompt(
        &self,
        context: &Context,
        prompt: &Prompt,
        arguments: Arguments<'_>,
    ) -> Result<RunResult, ToolError> {
        let outcome = run_prompt(self, context, prompt.tool(), arguments).await;
        outcome.map_err(|error| report(prompt.tool(), error))
    }

    fn resolve_prompt(&self, name: &str) -> Result<&Prompt, ToolError> {
        let unknown = || ToolError::new(ErrorKind::UnknownTool, format!("no prompt is named {}", quoted(name)));
        self.catalog().prompt(name).ok_or_else(unknown)
    }

    /// Calls a function with `input`. Threads, timeouts and limits are those of a call with JSON.
    pub(crate) async fn run_typed<I, O, R>(
        &self,
        context: &Context,
        typed: Typed<I, O, R>,
        input: I,
    ) -> Result<O, ToolError>
    where
        I: Send + 'static,
        O: Send + 'static,
        R: 'static,
    {
        let tool = self.catalog().linked_as(typed.entry, typed.namespace)?;
        run_typed(self, context, tool, typed, input).await.map_err(|error| report(tool, error))
    }

    /// Returns the tool that a name refers to.
    #[inline]
    pub(crate) fn resolve(&self, name: &str) -> Result<&Tool, ToolError> {
        match &self.names {
            None => self.shared.catalog.resolve(name),
            Some(names) => self.resolve_exported(names, name),
        }
    }

    #[cold]
    fn resolve_exported(&self, names: &ExportedNames, name: &str) -> Result<&Tool, ToolError> {
        let id = names.resolve(name)?.id();
        self.shared.catalog.with_id(id).ok_or_else(|| names.unknown(name))
    }
}
