//! Threads of the host for tools that are marked `blocking`.

use std::fmt;
use std::sync::Arc;

/// Threads on which the host wants `blocking` tools to run, instead of those of the tokio runtime.
///
/// A tokio runtime waits for its blocking threads when it is dropped, so that a tool that never ends keeps the process
/// alive. A host that has other threads attaches this to the context of a call. Without it, `blocking` tools run on
/// those of the runtime.
///
/// ```
/// use toolkit::Context;
/// use toolkit::dispatch::BlockingThreads;
///
/// let threads = BlockingThreads::new(|work| drop(std::thread::spawn(work)));
/// let context = Context::new().with(threads);
/// # drop(context);
/// ```
#[derive(Clone)]
pub struct BlockingThreads(Arc<Spawn>);

type Spawn = dyn Fn(Box<dyn FnOnce() + Send>) + Send + Sync;

impl BlockingThreads {
    /// Creates a value that runs work by `spawn`, which must not run it on the thread that calls it.
    #[must_use]
    pub fn new(spawn: impl Fn(Box<dyn FnOnce() + Send>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(spawn))
    }

    /// Runs work; `None` if it was dropped before its end.
    pub(super) async fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
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
