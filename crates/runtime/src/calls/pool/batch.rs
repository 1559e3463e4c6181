//! Futures that a pool receives together.

use std::fmt;
use std::future::Future;

use tokio::runtime::Handle;

use super::threads::Runnable;
use super::{Task, ToolPool};

/// Futures of tools that a [`ToolPool`] receives together.
///
/// A thread that reads many calls at once wakes the threads of the pool once for all of them. Unlike
/// [`ToolPool::spawn`], it does not need to be a thread of the runtime.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use tokio::runtime::Handle;
/// use toolkit_runtime::{ToolBatch, ToolPool};
///
/// let mut batch = ToolBatch::new(ToolPool::new(), Handle::current());
/// let tasks: Vec<_> = (0..3).map(|n| batch.spawn("double", async move { 2 * n })).collect();
/// batch.start();
/// for (n, task) in tasks.into_iter().enumerate() {
///     assert_eq!(task.await, Ok(2 * n));
/// }
/// # }
/// ```
pub struct ToolBatch {
    pool: ToolPool,
    runtime: Handle,
    runnables: Vec<Runnable>,
}

impl ToolBatch {
    /// Creates an empty batch. The futures are polled within `runtime`.
    #[must_use]
    pub fn new(pool: ToolPool, runtime: Handle) -> Self {
        Self { pool, runtime, runnables: Vec::new() }
    }

    /// Adds a future of a tool, which is polled once the batch is started.
    pub fn spawn<F>(&mut self, tool: &str, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (runnable, task) = self.pool.prepare(self.runtime.clone(), tool, future);
        self.runnables.push(runnable);
        task
    }

    /// Hands the futures over to the pool. The batch is empty afterwards.
    pub fn start(&mut self) {
        if !self.runnables.is_empty() {
            self.pool.threads.push_all(&mut self.runnables);
        }
    }
}

impl fmt::Debug for ToolBatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolBatch").field("n_futures", &self.runnables.len()).finish_non_exhaustive()
    }
}
