//! Tools of this process that were added while it runs.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::Value;

use super::changes::Changes;
use super::{Answer, Backend, BackendCall, Offers};
use crate::call::{Context, ErrorKind, ToolError};
use crate::dispatch::BoxFuture;
use crate::tool::{BackendKind, Tool, ToolBackend};

/// Each tool under its id, with what runs it.
type Tools = BTreeMap<String, (Tool, Arc<Handler>)>;
type Handler = dyn Fn(Value, Context) -> BoxFuture<'static, Result<Answer, ToolError>> + Send + Sync;

/// Tools of this process that were added while it runs, each with the code that runs it.
///
/// Clones share everything, so that a host can keep one and register another. What is added or removed shows in the
/// next [`Backends::collect`](super::Backends::collect), and is told by [`Backend::changed`].
#[derive(Clone)]
pub struct LocalBackend {
    name: Arc<str>,
    tools: Arc<RwLock<Tools>>,
    changes: Arc<Changes>,
}

impl LocalBackend {
    /// A backend without tools.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self { name: name.into(), tools: Arc::default(), changes: Arc::default() }
    }

    /// Adds a tool, in place of any with the same id. Its handler is given arguments that fit the tool's input schema.
    pub fn add<A, F>(&self, tool: Tool, handler: impl Fn(Value, Context) -> F + Send + Sync + 'static)
    where
        A: Into<Answer>,
        F: Future<Output = Result<A, ToolError>> + Send + 'static,
    {
        let handler = move |arguments, context| -> BoxFuture<'static, _> {
            let answer = handler(arguments, context);
            Box::pin(async move { answer.await.map(Into::into) })
        };
        let mut tools = self.tools.write().unwrap_or_else(PoisonError::into_inner);
        tools.insert(tool.id().to_string(), (tool, Arc::new(handler)));
        drop(tools);
        self.changes.tell();
    }

    /// Removes a tool by its id; calls that run come to their end. Says whether there was one.
    pub fn remove(&self, id: &str) -> bool {
        let removed = self.tools.write().unwrap_or_else(PoisonError::into_inner).remove(id);
        removed.inspect(|_| self.changes.tell()).is_some()
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

    fn tools(&self) -> BoxFuture<'_, Result<Offers, ToolError>> {
        self.changes.look();
        let tools = self.tools.read().unwrap_or_else(PoisonError::into_inner);
        let offers = Offers::new(tools.iter().map(|(id, (tool, _))| (tool.clone(), ToolBackend::named(id.clone()))));
        Box::pin(async { Ok(offers) })
    }

    fn changed(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.changes.changed())
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<Answer, ToolError>> {
        Box::pin(async move {
            let handler = match call.target() {
                ToolBackend::Local { name } => self.handler(name),
                _ => None,
            };
            let handler = handler.ok_or_else(|| {
                let message = format!("the tool was removed from the backend `{}`", self.name);
                ToolError::new(ErrorKind::NoBackend, message)
            })?;
            handler(call.arguments().to_value()?, call.context().clone()).await
        })
    }
}

impl fmt::Debug for LocalBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalBackend").field("name", &self.name).finish_non_exhaustive()
    }
}
