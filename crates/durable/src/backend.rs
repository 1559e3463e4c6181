//! Durable calls of single tools, as a backend.

use serde_json::{Map, Value};
use toolkit::backend::{Backend, BackendCall, BackendResponse, OfferedTools};
use toolkit::call::{BoxFuture, ErrorKind};
use toolkit::mcp::{Revision, write_result};
use toolkit::tool::{BackendKind, ToolBackend};
use toolkit::{RunResult, Tool, ToolError};
use toolkit_backends::chain::{Chain, Step};

use crate::client::Client;
use crate::error::{DurableError, RunId};

/// A [`Backend`] whose calls are runs of one step: the call survives the death of its worker, and a caller that died finds
/// the result when it calls again with the same id.
///
/// The id of the run is the [`RunId`] in the context of the call. Without one, the call has a new id, and only its worker
/// may die.
///
/// Dropping the future of a call ends the wait and not the run. A call whose context is cancelled cancels the run.
///
/// # Examples
///
/// ```no_run
/// use toolkit::{Catalog, Context, Dispatcher};
/// use toolkit_backends::Backends;
/// use toolkit_durable::{Client, Connect, DurableBackend, RunId};
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = Client::connect(&Connect::new("postgres://localhost/runs")?).await?;
/// // The tools of the workers, here those that this program contains too.
/// let tools = Catalog::linked()?;
/// let backends = Backends::new();
/// backends.register(DurableBackend::new("orders", client, tools.iter().cloned()))?;
/// let collected = backends.collect(Catalog::new([])?).await;
/// let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
///
/// let context = Context::new().with(RunId::new("report-of-may")?);
/// let report = dispatcher.call_with(&context, "reports:build", r#"{"month": 5}"#).await?;
/// # Ok(())
/// # }
/// ```
#[must_use]
pub struct DurableBackend {
    name: String,
    client: Client,
    tools: Vec<Tool>,
    is_trusted: bool,
}

impl DurableBackend {
    /// Creates a backend for tools of the workers.
    pub fn new(name: impl Into<String>, client: Client, tools: impl IntoIterator<Item = Tool>) -> Self {
        Self { name: name.into(), client, tools: tools.into_iter().collect(), is_trusted: false }
    }

    /// Trusts the annotations, tags and timeouts of the tools; see [`Backend::is_trusted`].
    pub fn trusted(self) -> Self {
        Self { is_trusted: true, ..self }
    }

    async fn run(&self, call: BackendCall<'_>) -> Result<BackendResponse, ToolError> {
        let ToolBackend::Provider { tool_id, .. } = call.target() else {
            return Err(ToolError::new(ErrorKind::NoBackend, "the target of the call belongs to another backend"));
        };
        let arguments = match call.arguments().to_value()? {
            Value::Object(arguments) => arguments,
            _ => Map::new(),
        };
        let chain = Chain::new().then(Step::new(tool_id).args(arguments));
        let id = match call.context().get::<RunId>() {
            Some(id) => id.clone(),
            None => RunId::random(),
        };
        let run = self.client.start(&chain, id).await.map_err(not_started)?;
        let outcome = tokio::select! {
            outcome = run.wait() => outcome.map_err(failed)?,
            () = call.context().cancelled() => {
                run.cancel().await.map_err(failed)?;
                return Err(ToolError::cancelled());
            }
        };
        let result = outcome.into_result()?;
        Ok(result.map_or(BackendResponse::Nothing, |result| response(call.tool(), &result)))
    }
}

/// Returns a result in the form that keeps its content.
fn response(tool: &Tool, result: &RunResult) -> BackendResponse {
    match result.json() {
        Some(json) if result.own_content().is_empty() => BackendResponse::Json(json.to_owned()),
        _ => BackendResponse::Mcp(write_result(tool, result, Revision::V2026_07_28)),
    }
}

fn not_started(error: DurableError) -> ToolError {
    let kind = match &error {
        DurableError::Locked { .. } | DurableError::Missing { .. } | DurableError::Database { .. } => {
            ErrorKind::Unavailable
        }
        _ => ErrorKind::Failed,
    };
    ToolError::new(kind, error.to_string())
}

fn failed(error: DurableError) -> ToolError {
    match error {
        DurableError::Rejected(error) => error,
        DurableError::Cancelled(_) => ToolError::cancelled(),
        error => ToolError::new(ErrorKind::OutcomeUnknown, error.to_string()),
    }
}

impl Backend for DurableBackend {
    fn name(&self) -> &str {
        &self.name
    }

    fn kind(&self) -> BackendKind {
        BackendKind::Provider
    }

    fn is_trusted(&self) -> bool {
        self.is_trusted
    }

    fn tools(&self) -> BoxFuture<'_, Result<OfferedTools, ToolError>> {
        Box::pin(async {
            let targeted = |tool: &Tool| {
                let target = ToolBackend::provider(&self.name, tool.id().to_string()).map_err(ToolError::internal)?;
                Ok((tool.clone(), target))
            };
            let tools: Result<Vec<_>, ToolError> = self.tools.iter().map(targeted).collect();
            Ok(OfferedTools::new(tools?))
        })
    }

    fn call<'a>(&'a self, call: BackendCall<'a>) -> BoxFuture<'a, Result<BackendResponse, ToolError>> {
        Box::pin(self.run(call))
    }
}

toolkit::debug_fields!(DurableBackend { name });
