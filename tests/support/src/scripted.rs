//! A backend that follows a script.

use std::future::pending;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::dispatch::BoxFuture;
use toolkit::resource::{Resource, ResourceContents, ResourceTemplate, Resources};
use toolkit::stream::Chunk;
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{Context, Tool, ToolError};

type Does = dyn Fn(&BackendCall<'_>) -> Result<BackendResponse, ToolError> + Send + Sync;

/// The outcome of a request that is not a call.
#[derive(Clone, Copy, PartialEq)]
pub enum Mood {
    /// The answer of the backend.
    Well,
    /// An error.
    Failing,
    /// A panic.
    Panicking,
    /// None.
    Silent,
}

/// A backend whose answers a test chooses. By default, a call returns its arguments.
#[derive(Clone)]
pub struct Scripted {
    name: String,
    kind: BackendKind,
    tools: Vec<Tool>,
    mood: Mood,
    is_trusted: bool,
    does: Arc<Does>,
    /// The requests that the backend has received.
    pub asked: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    /// Creates a backend with these tools.
    pub fn new(name: &str, kind: BackendKind, tools: impl IntoIterator<Item = Tool>) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            tools: tools.into_iter().collect(),
            mood: Mood::Well,
            is_trusted: false,
            does: Arc::new(|call| Ok(call.arguments().to_value()?.into())),
            asked: Arc::default(),
        }
    }

    /// Sets the outcome of requests that are not calls.
    #[must_use]
    pub fn in_mood(mut self, mood: Mood) -> Self {
        self.mood = mood;
        self
    }

    /// Trusts the hints of the tools.
    #[must_use]
    pub fn trusted(mut self) -> Self {
        self.is_trusted = true;
        self
    }

    /// Sets the answer of each call.
    #[must_use]
    pub fn doing(
        mut self,
        does: impl Fn(&BackendCall<'_>) -> Result<BackendResponse, ToolError> + Send + Sync + 'static,
    ) -> Self {
        self.does = Arc::new(does);
        self
    }

    /// Returns the requests that the backend has received.
    ///
    /// # Panics
    ///
    /// Panics if a test has panicked meanwhile.
    #[must_use]
    pub fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }

    fn target(&self, tool: &Tool) -> ToolBackend {
        let target = match self.kind {
            BackendKind::Mcp => ToolBackend::mcp(&*self.name),
            BackendKind::Provider => ToolBackend::provider(&*self.name, tool.id().to_string()),
            _ => ToolBackend::local(format!("{}-handler", tool.name())),
        };
        target.unwrap()
    }

    fn answer<T: Send + 'static>(&self, what: &str, answer: T) -> BoxFuture<'_, Result<T, ToolError>> {
        self.asked.lock().unwrap().push(what.to_owned());
        let mood = self.mood;
        Box::pin(async move {
            match mood {
                Mood::Well => Ok(answer),
                Mood::Failing => Err(ToolError::failed("not today")),
                Mood::Panicking => panic!("the answer to everything"),
                Mood::Silent => pending().await,
            }
        })
    }
}

impl Scripted {
    fn answer_later<T: Send + 'static>(&self, what: &str, answer: T) -> BoxFuture<'_, Result<T, ToolError>> {
        let answer = self.answer(what, answer);
        Box::pin(async {
            tokio::time::sleep(Duration::from_millis(1)).await;
            answer.await
        })
    }
}

impl Backend for Scripted {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        self.kind
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    fn resources(&self) -> Option<&dyn Resources> {
        Some(self)
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        let offers = self.tools.iter().map(|tool| (tool.clone(), self.target(tool)));
        self.answer("tools", OfferedTools::new(offers))
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        self.asked.lock().unwrap().push(format!("call {}", call.tool().name()));
        Box::pin(async move {
            call.context().progress(1.0, 2.0, "half");
            if call.is_streamed() {
                call.send(Chunk::from_json("\"a part\"".to_owned()).unwrap()).await?;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
            (self.does)(&call)
        })
    }

    fn start(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.answer("start", ())
    }

    fn stop(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.answer("stop", ())
    }

    fn health(&self) -> BoxFuture<'_, Result<(), ToolError>> {
        self.answer("health", ())
    }
}

/// Resources that are listed and read after a moment.
impl Resources for Scripted {
    fn list<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<Resource>, ToolError>> {
        self.answer_later("list", Vec::new())
    }

    fn templates<'a>(&'a self, _: &'a Context) -> BoxFuture<'a, Result<Vec<ResourceTemplate>, ToolError>> {
        self.answer_later("templates", Vec::new())
    }

    fn read<'a>(
        &'a self,
        _: &'a str,
        _: &'a Context,
    ) -> BoxFuture<'a, Result<Option<Vec<ResourceContents>>, ToolError>> {
        self.answer_later("read", None)
    }
}

/// Creates a tool that accepts any object and has no output schema.
///
/// # Panics
///
/// Panics if the name is invalid.
#[must_use]
pub fn open(name: &'static str) -> Tool {
    Tool::builder(name).description("Takes anything.").input(json!({ "type": "object" })).build().unwrap()
}

/// Creates a tool that accepts a number `n` and returns a number.
///
/// # Panics
///
/// Panics if the name is invalid.
#[must_use]
pub fn numeric(name: &'static str) -> Tool {
    let input: Value = json!({
        "type": "object",
        "properties": { "n": { "type": "integer" } },
        "required": ["n"],
        "additionalProperties": false,
    });
    Tool::builder(name).description("Counts.").input(input).output(json!({ "type": "integer" })).build().unwrap()
}
