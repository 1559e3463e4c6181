//! Tools of this process that are registered at run time.

use std::any::TypeId;
use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::{BoxFuture, Context, ErrorKind, ToolError};
use toolkit::catalog::Diagnostics;
use toolkit::internals::{Changes, typed_arguments};
use toolkit::tool::{BackendKind, NameError, Tool, ToolBackend, ToolBuilder};

/// Each tool by its id, with its handler.
type Tools = BTreeMap<String, (Tool, Arc<Handler>)>;
type Handler = dyn for<'a> Fn(BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> + Send + Sync;

/// Tools of this process that are registered at run time, each with a handler.
///
/// Clones share their tools, so a host can keep one clone and register another. Added and removed
/// tools take effect in the next [`Backends::collect`](crate::Backends::collect), and
/// [`Backend::changed`] reports them.
///
/// # Examples
///
/// ```
/// use serde_json::{Value, json};
/// use toolkit::backend::Backend;
/// use toolkit::{Context, Tool, ToolError};
/// use toolkit_backends::LocalBackend;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let plugins = LocalBackend::new("plugins");
/// let upper = Tool::builder("upper").input(json!({ "type": "object", "properties": { "text": {} } }));
/// plugins.add(upper.build()?, |arguments: Value, _: Context| async move {
///     let text = arguments["text"].as_str().ok_or_else(|| ToolError::failed("`text` must be a string"))?;
///     Ok(json!(text.to_uppercase()))
/// });
/// assert_eq!(plugins.tools().await?.tools.len(), 1);
///
/// assert!(plugins.remove("upper"));
/// assert!(plugins.tools().await?.tools.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct LocalBackend {
    name: Arc<str>,
    tools: Arc<RwLock<Tools>>,
    changes: Arc<Changes>,
}

impl LocalBackend {
    /// Creates a backend without tools.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), tools: Arc::default(), changes: Arc::default() }
    }

    /// Adds a tool, replacing any tool with the same id. The handler receives arguments that match
    /// the tool's input schema.
    pub fn add<A, F>(&self, tool: Tool, handler: impl Fn(Value, Context) -> F + Send + Sync + 'static)
    where
        A: Into<BackendResponse>,
        F: Future<Output = Result<A, ToolError>> + Send + 'static,
    {
        self.insert(tool, move |call| {
            let answer = call.arguments().to_value().map(|arguments| handler(arguments, call.context().clone()));
            Box::pin(async move { answer?.await.map(Into::into) })
        });
    }

    /// Adds a tool whose handler takes and returns Rust types, replacing any tool with the same id.
    /// Both schemas are derived from the types, and values that do not match are rejected like
    /// those of a [`tool`](macro@toolkit::tool) function.
    ///
    /// ```standalone_crate
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    /// use toolkit::{Catalog, Context, Dispatcher, Tool};
    /// use toolkit_backends::{Backends, LocalBackend};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Shout {
    ///     /// What to say.
    ///     text: String,
    /// }
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Shouted {
    ///     text: String,
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_time().build()?.block_on(async {
    /// let plugins = LocalBackend::new("plugins");
    /// plugins.add_typed(
    ///     Tool::builder("shout").description("Says it louder."),
    ///     async |args: Shout, _: Context| Ok(Shouted { text: args.text.to_uppercase() }),
    /// )?;
    ///
    /// let backends = Backends::new();
    /// backends.register(plugins)?;
    /// let collected = backends.collect(Catalog::linked()?).await;
    /// let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    /// let result = dispatcher.call("plugins:shout", r#"{"text": "hello"}"#).await?;
    /// assert_eq!(result.value()["text"], "HELLO");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// A tool whose handler returns `()` has no result.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`ToolBuilder::build`]: the name is invalid, or `A` is not a JSON
    /// object with properties.
    pub fn add_typed<A, T, F>(
        &self,
        tool: ToolBuilder,
        handler: impl Fn(A, Context) -> F + Send + Sync + 'static,
    ) -> Result<(), Diagnostics>
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        T: Serialize + JsonSchema + Send + 'static,
        F: Future<Output = Result<T, ToolError>> + Send + 'static,
    {
        let returns_unit = TypeId::of::<T>() == TypeId::of::<()>();
        let tool = tool.input_of::<A>();
        let tool = if returns_unit { tool } else { tool.output_of::<T>() };
        self.insert(tool.build()?, move |call| {
            let answer =
                typed_arguments(call.tool(), call.arguments()).map(|args| handler(args, call.context().clone()));
            Box::pin(async move {
                let output = answer?.await?;
                match returns_unit {
                    true => Ok(BackendResponse::Nothing),
                    false => serde_json::to_vec(&output).map(BackendResponse::Json).map_err(ToolError::internal),
                }
            })
        });
        Ok(())
    }

    fn insert<H>(&self, tool: Tool, handler: H)
    where
        H: for<'a> Fn(BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> + Send + Sync + 'static,
    {
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        tools.insert(tool.id().to_string(), (tool, Arc::new(handler)));
        drop(tools);
        self.changes.notify();
    }

    /// Removes a tool by its id and returns true if it existed. Running calls continue.
    pub fn remove(&self, id: &str) -> bool {
        let removed = self.tools.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        removed.inspect(|_| self.changes.notify()).is_some()
    }

    fn handler(&self, name: &str) -> Option<Arc<Handler>> {
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        tools.get(name).map(|(_, handler)| Arc::clone(handler))
    }
}

impl Backend for LocalBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Local
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        self.changes.mark_seen();
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let offers = tools.iter().map(|(id, (tool, _))| Ok((tool.clone(), ToolBackend::local(id)?)));
        let offers = offers.collect::<Result<Vec<_>, NameError>>().map_err(ToolError::internal);
        Box::pin(async { offers.map(OfferedTools::new) })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changes.changed())
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(async move {
            let handler = match call.target() {
                ToolBackend::Local { name, .. } => self.handler(name),
                _ => None,
            };
            let handler = handler.ok_or_else(|| {
                let message = format!("the tool was removed from the backend `{}`", self.name);
                ToolError::new(ErrorKind::NoBackend, message)
            })?;
            handler(call).await
        })
    }
}

toolkit::debug_fields!(LocalBackend { name });
