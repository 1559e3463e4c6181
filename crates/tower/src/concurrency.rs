//! A concurrency limit for each tool.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{Context, RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, PerTool, layer, unless_cancelled};

/// A layer that limits the number of concurrent calls of each tool.
///
/// Further calls wait in order of arrival until a permit is free or they are cancelled; with
/// [`reject_excess`](Self::reject_excess) they fail. An abandoned `blocking` tool keeps its permit until it ends.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::ConcurrencyPerTool;
///
/// // Tools with the tag `gpu` run one call at a time.
/// let limit = ConcurrencyPerTool::with_limits(|tool| Some(if tool.tags().iter().any(|tag| tag == "gpu") { 1 } else { 16 }));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(limit.reject_excess()).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct ConcurrencyPerTool {
    semaphores: Arc<PerTool<Option<Arc<Semaphore>>>>,
    rejects_excess: bool,
}

/// A permit in the context of its call, which moves to the thread of a `blocking` tool and is dropped when the work ends.
/// The context holds one value of this type, so a permit keeps those that outer layers have acquired.
struct Permit {
    _permit: OwnedSemaphorePermit,
    _outer: Option<Arc<Permit>>,
}

impl ConcurrencyPerTool {
    /// Creates a layer that allows `n_calls` concurrent calls of each tool.
    #[must_use]
    pub fn new(n_calls: usize) -> Self {
        Self::with_limits(move |_| Some(n_calls))
    }

    /// Creates a layer with a limit for each tool. `None` is no limit, and a limit of 0 rejects all calls.
    ///
    /// `limit` is called once for each tool.
    #[must_use]
    pub fn with_limits(limit: impl Fn(&Tool) -> Option<usize> + Send + Sync + 'static) -> Self {
        let semaphore = move |tool: &Tool| {
            let n_calls = limit(tool)?;
            let semaphore = Semaphore::new(n_calls.min(Semaphore::MAX_PERMITS));
            if n_calls == 0 {
                // No permit would ever be free, so calls must not wait.
                semaphore.close();
            }
            Some(Arc::new(semaphore))
        };
        Self { semaphores: Arc::new(PerTool::new(semaphore)), rejects_excess: false }
    }

    /// Rejects calls above the limit with [`ErrorKind::Overloaded`]. By default they wait.
    #[must_use]
    pub fn reject_excess(self) -> Self {
        Self { rejects_excess: true, ..self }
    }

    async fn acquire(&self, semaphore: &Arc<Semaphore>, context: &Context) -> Result<OwnedSemaphorePermit, ToolError> {
        if self.rejects_excess {
            return Arc::clone(semaphore).try_acquire_owned().map_err(|_| overloaded());
        }
        unless_cancelled(context, Arc::clone(semaphore).acquire_owned()).await?.map_err(|_| overloaded())
    }
}

impl Middleware for ConcurrencyPerTool {
    async fn around(&self, mut call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if let Some(semaphore) = &*self.semaphores.get(call.tool()) {
            let permit = self.acquire(semaphore, call.context()).await?;
            let context = call.context_mut();
            let outer = context.get::<Arc<Permit>>().cloned();
            *context = std::mem::take(context).with(Arc::new(Permit { _permit: permit, _outer: outer }));
        }
        inner.run(call).await
    }
}

layer!(ConcurrencyPerTool);

fn overloaded() -> ToolError {
    ToolError::new(ErrorKind::Overloaded, "concurrency limit of this tool reached; try again later")
}

impl fmt::Debug for ConcurrencyPerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyPerTool").field("rejects_excess", &self.rejects_excess).finish_non_exhaustive()
    }
}
