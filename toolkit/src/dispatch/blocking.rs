//! Execution of `blocking` tools, and threads that a host provides for them.

use std::fmt;
use std::sync::Arc;

use crate::call::{Context, ErrorKind, ToolError};

/// Threads of the host for `blocking` tools, instead of those of the tokio runtime.
///
/// A tokio runtime waits for its blocking threads when it is dropped, so a tool that never returns keeps the process
/// alive. A host with its own threads attaches this value to the context of a call. Without it, `blocking` tools run
/// on the threads of the runtime.
#[doc(hidden)]
#[derive(Clone)]
pub struct BlockingThreads(Arc<Spawn>);

type Spawn = dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync;

impl BlockingThreads {
    /// Creates a value that runs work with `spawn`, which must not run it on the calling thread.
    #[must_use]
    pub fn new(spawn: impl Fn(Box<dyn FnOnce() + Send>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs work. Returns `None` if it was dropped before it completed.
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        (self.0)(Box::new(move || drop(sender.send(work()))));
        receiver.await.ok()
    }
}

impl fmt::Debug for BlockingThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BlockingThreads").finish_non_exhaustive()
    }
}

/// Runs `work` on a thread that may block: one of the threads in the context, or of the runtime.
pub(super) async fn run<T: Send + 'static>(
    context: &Context,
    work: impl FnOnce() -> Result<T, ToolError> + Send + 'static,
) -> Result<T, ToolError> {
    let threads = context.get::<BlockingThreads>().cloned();
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
