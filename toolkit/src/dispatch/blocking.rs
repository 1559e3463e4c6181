//! Execution of `blocking` tools, and threads that a host provides for them.

#[cfg(feature = "async")]
use std::fmt;
#[cfg(feature = "async")]
use std::sync::Arc;

use super::dispatcher::Dispatcher;
#[cfg(feature = "async")]
use crate::call::ErrorKind;
use crate::call::permit::Permit;
use crate::call::{Context, ToolError, unwind};

/// Threads of the host for `blocking` tools, instead of those of the tokio runtime.
///
/// A tokio runtime waits for its blocking threads when it is dropped, so a tool that never returns keeps the process
/// alive. A host with its own threads attaches this value to the context of a call. Without it, `blocking` tools run
/// on the threads of the runtime.
///
/// ```
/// use toolkit::Context;
/// use toolkit::dispatch::BlockingThreads;
///
/// let threads = BlockingThreads::new(|work| drop(std::thread::spawn(work)));
/// let context = Context::new().with(threads);
/// # drop(context);
/// ```
#[cfg(feature = "async")]
#[derive(Clone)]
pub struct BlockingThreads(Arc<Spawn>);

#[cfg(feature = "async")]
type Spawn = dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync;

#[cfg(feature = "async")]
impl BlockingThreads {
    /// Creates a value that runs work with `spawn`, which must not run it on the calling thread.
    #[must_use]
    pub fn new(spawn: impl Fn(Box<dyn FnOnce() + Send>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs work. Returns `None` if it was dropped before it completed.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        (self.0)(Box::new(move || drop(sender.send(work()))));
        receiver.await.ok()
    }
}

#[cfg(feature = "async")]
impl fmt::Debug for BlockingThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingThreads").finish_non_exhaustive()
    }
}

impl Dispatcher {
    /// Runs `work` on a thread that may block. If the future is dropped, the context is cancelled, and the permit is
    /// held until `work` returns.
    #[cfg(feature = "async")]
    pub(super) async fn run_blocking<T: Send + 'static>(
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
            let message = "the runtime shut down before the tool was run";
            Err(ToolError::new(ErrorKind::Cancelled, message))
        })
    }

    #[cfg(not(feature = "async"))]
    pub(super) async fn run_blocking<T>(
        &self,
        context: &Context,
        permit: Permit,
        work: impl FnOnce(&Self, &Context) -> Result<T, ToolError>,
    ) -> Result<T, ToolError> {
        permit.run(|| unwind::caught(|| work(self, context)))
    }
}
