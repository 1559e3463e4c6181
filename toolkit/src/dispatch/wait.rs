//! The waits of a call: for a thread that may block, and for its end, its cancellation or its timeout.

use std::future::Future;
#[cfg(feature = "async")]
use std::pin::pin;
#[cfg(feature = "async")]
use std::sync::Arc;
#[cfg(feature = "async")]
use std::task::Poll;
use std::time::Duration;

use crate::call::{Context, ToolError};
#[cfg(feature = "async")]
use crate::call::{ErrorKind, timer};

/// Threads of the host for `blocking` tools, instead of those of the tokio runtime.
///
/// A tokio runtime waits for its blocking threads when it is dropped, so a tool that never returns keeps the process
/// alive. A host with its own threads attaches this value to the context of a call. Without it, `blocking` tools run
/// on the threads of the runtime.
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
    async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        (self.0)(Box::new(move || drop(sender.send(work()))));
        receiver.await.ok()
    }
}

#[cfg(feature = "async")]
crate::debug_fields!(BlockingThreads {});

/// Runs `work` on a thread that may block: one of the threads in the context, or of the runtime.
#[cfg(feature = "async")]
pub(super) async fn run_on_thread<T: Send + 'static>(
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

/// Polls `work` until it completes, the call is cancelled, or the timeout elapses. The time that the call waits for
/// answers of its user does not count.
#[cfg(feature = "async")]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
    timeout: Option<Duration>,
) -> Result<T, ToolError> {
    let work = until_cancelled(work, context);
    let Some(timeout) = timeout else {
        return work.await;
    };
    let asked_before = context.time_asking();
    let asking = || context.time_asking().saturating_sub(asked_before);
    timer::timeout_extended(timeout, asking, work).await?.unwrap_or_else(|| {
        let message = format!("the tool took longer than {timeout:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    })
}

#[cfg(feature = "async")]
async fn until_cancelled<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
) -> Result<T, ToolError> {
    if !context.is_cancellable() {
        return work.await;
    }
    let mut work = pin!(work);
    let mut cancelled = pin!(context.cancelled());
    std::future::poll_fn(|cx| {
        if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
            return Poll::Ready(outcome);
        }
        cancelled.as_mut().poll(cx).map(|()| Err(ToolError::cancelled()))
    })
    .await
}

/// Polls `work` to completion. Timeouts and cancellation need the feature `async`.
#[cfg(not(feature = "async"))]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    _context: &Context,
    _timeout: Option<Duration>,
) -> Result<T, ToolError> {
    work.await
}
