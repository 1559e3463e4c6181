//! Runs of chains that a step starts and waits for. Such a child ends the attempt of its step: the next attempt finds its outcome.

use std::sync::Arc;

use toolkit::call::BoxFuture;
use toolkit::{Context, ToolError};
use toolkit_backends::chain::{Chain, ChainOutcome};

use crate::error::{DurableError, RunId};
use crate::runs;
use crate::store::Phase;

/// A run that a step asks for.
#[derive(Clone)]
pub(super) struct ChildRun {
    pub(super) id: RunId,
    pub(super) chain: Chain,
}

/// A child that no worker continues.
#[derive(Clone)]
pub(super) struct EndedChild {
    pub(super) id: RunId,
    /// Its phase and what it has recorded at its end, unless it was deleted.
    pub(super) end: Option<(Phase, Arc<str>)>,
}

impl EndedChild {
    /// Returns the outcome of the chain.
    pub(super) fn outcome(&self) -> Result<ChainOutcome, ToolError> {
        let deleted = || DurableError::UnknownRun(self.id.clone());
        let outcome = self.end.as_ref().ok_or_else(deleted).and_then(|(phase, json)| {
            runs::outcome(&self.id, *phase, json).unwrap_or_else(|| Err(DurableError::Parked(self.id.clone())))
        });
        outcome.map_err(|error| match error {
            DurableError::Rejected(error) => error,
            error => ToolError::failed(error.to_string()),
        })
    }
}

/// Waits for children, in the context of the calls of a step.
pub(super) struct ChildRunner(pub(super) Box<WaitForChild>);

type WaitForChild = dyn Fn(ChildRun) -> BoxFuture<'static, Result<ChainOutcome, ToolError>> + Send + Sync;

/// Runs a chain as a durable run of its own, from a tool that is a step of a durable run, and returns its outcome.
///
/// The id of the child is `RUN:STEP.NAME`, so that it is started once, also if the step runs again. While the child runs, or
/// waits for a person, the tool does not: as after [`Context::ask`], its function is called again, and finds the outcome. Hence,
/// mark the tool as `idempotent`, and have effects only in the steps of the child, or after it. A tool may have several children,
/// one after the other, with different names; the steps of a parallel chain have theirs at the same time.
///
/// Cancelling, resuming or deleting a run does the same to its children. [`Run::retry`](crate::Run::retry) continues a child that
/// has failed from its failed step.
///
/// # Errors
///
/// Returns an error if the tool is not a step of a durable run, the name is not part of a [`RunId`], the child exists with another
/// chain, or it was rejected, cancelled or deleted. The error of a step of the child is part of the outcome.
///
/// # Examples
///
/// ```
/// use toolkit::{Context, ToolError, tool};
/// use toolkit_backends::chain::{Chain, Step};
/// use toolkit_durable::run_child;
///
/// /// Ships the parts of an order, one after the other.
/// #[tool(namespace = "orders", idempotent)]
/// async fn ship_all(parts: Vec<String>, ctx: &Context) -> Result<usize, ToolError> {
///     let chain: Chain = parts.iter().map(|part| Step::new("orders:ship").arg("part", part.clone())).collect();
///     run_child(ctx, "ship", &chain).await?.into_result()?;
///     Ok(parts.len())
/// }
/// ```
pub async fn run_child(ctx: &Context, name: &str, chain: &Chain) -> Result<ChainOutcome, ToolError> {
    let (Some(ChildRunner(wait_for)), Some(step)) = (ctx.get::<ChildRunner>(), ctx.step()) else {
        return Err(ToolError::failed("the tool is not a step of a durable run, and only such a step has child runs"));
    };
    let id = format!("{}:{}.{name}", step.run(), step.step());
    let id = RunId::new(&*id).map_err(|error| ToolError::failed(format!("the child run `{id}`: {error}")))?;
    wait_for(ChildRun { id, chain: chain.clone() }).await
}
