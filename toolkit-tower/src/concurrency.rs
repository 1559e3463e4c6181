//! How many calls of one tool run at once.

use std::fmt;
use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{Context, RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, layer};
use crate::per_tool::PerTool;
use crate::waiting::unless_cancelled;

/// A bound on the calls of each tool that run at once. More wait for their turn, in the order in which they came, until
/// their caller gives up; or they are refused.
///
/// ```
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::ConcurrencyPerTool;
///
/// // Whatever is tagged `gpu` runs alone.
/// let limit = ConcurrencyPerTool::by(|tool| Some(if tool.tags().iter().any(|tag| tag == "gpu") { 1 } else { 16 }));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(limit.refusing()).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
///
/// A tool on a thread of its own (`blocking`) goes on when its caller has gone, and keeps its place till it ends.
#[derive(Clone)]
pub struct ConcurrencyPerTool {
    places: Arc<PerTool<Option<Arc<Semaphore>>>>,
    refuses: bool,
}

/// A place, for as long as the context of its call lives, which goes wherever the work goes; with the places that were
/// taken for the same work before.
struct Held {
    _place: OwnedSemaphorePermit,
    _before: Option<Arc<Held>>,
}

impl ConcurrencyPerTool {
    /// At most `n_calls` of each tool at once.
    #[must_use]
    pub fn new(n_calls: usize) -> Self {
        Self::by(move |_| Some(n_calls))
    }

    /// As many calls of a tool at once as `limit` says; `None` is no limit, and a tool with a limit of 0 is refused.
    ///
    /// Each tool is asked about once.
    #[must_use]
    pub fn by(limit: impl Fn(&Tool) -> Option<usize> + Send + Sync + 'static) -> Self {
        let places = move |tool: &Tool| {
            let n_calls = limit(tool)?;
            let places = Semaphore::new(n_calls.min(Semaphore::MAX_PERMITS));
            if n_calls == 0 {
                // Nobody would ever leave, so nobody is to wait.
                places.close();
            }
            Some(Arc::new(places))
        };
        Self { places: Arc::new(PerTool::new(places)), refuses: false }
    }

    /// Refuses calls for which there is no place, with [`ErrorKind::Overloaded`]; by default they wait.
    #[must_use]
    pub fn refusing(self) -> Self {
        Self { refuses: true, ..self }
    }

    async fn enter(&self, places: &Arc<Semaphore>, context: &Context) -> Result<OwnedSemaphorePermit, ToolError> {
        if self.refuses {
            return Arc::clone(places).try_acquire_owned().map_err(|_| overloaded());
        }
        unless_cancelled(context, Arc::clone(places).acquire_owned()).await?.map_err(|_| overloaded())
    }
}

impl Middleware for ConcurrencyPerTool {
    async fn around(&self, mut call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if let Some(places) = &*self.places.of(call.tool()) {
            let place = self.enter(places, call.context()).await?;
            let context = call.context_mut();
            let before = context.get::<Arc<Held>>().cloned();
            *context = std::mem::take(context).with(Arc::new(Held { _place: place, _before: before }));
        }
        inner.run(call).await
    }
}

layer!(ConcurrencyPerTool);

fn overloaded() -> ToolError {
    ToolError::new(ErrorKind::Overloaded, "as many calls of this tool run as may; try again later")
}

impl fmt::Debug for ConcurrencyPerTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyPerTool").field("refuses", &self.refuses).finish_non_exhaustive()
    }
}
