//! A thread pool for tools, so that a tool that blocks never delays I/O.

mod batch;
mod ended;
mod threads;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_task::{Builder, FallibleTask};
use tokio::runtime::Handle;

pub use self::batch::ToolBatch;
pub use self::ended::{is_tool_thread, wake_when_idle};
use self::threads::{Origin, Runnable, Threads};

/// An elastic pool of threads for futures that may block.
///
/// Each future is polled and dropped on threads of the pool, within the tokio runtime that spawned it. While polls end,
/// the pool has as many threads as there are cores. When no poll has ended for some milliseconds, it starts more: as
/// many as needed if its threads wait (a tool sleeps), or one for each tool without a thread if its threads keep the
/// cores busy (a tool computes). The number of futures bounds the number of threads, so bound the futures, for example
/// with a [`CallLimiter`](super::CallLimiter).
///
/// Threads are woken in batches: those of the pool once for all futures that one turn of a runtime spawns, and the
/// runtime once for all futures that end within 100 µs while the pool has more work.
///
/// The threads are detached and do not keep the process alive.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use toolkit_runtime::ToolPool;
///
/// let pool = ToolPool::new();
/// let slow = || async { std::thread::sleep(Duration::from_millis(100)) };
/// let tasks: Vec<_> = (0..100).map(|_| pool.spawn("slow", slow())).collect();
/// assert_eq!(pool.spawn("quick", async { 6 * 7 }).await, Ok(42));
/// # drop(tasks);
/// # });
/// ```
#[derive(Clone)]
pub struct ToolPool {
    threads: Arc<Threads>,
}

/// A future on a [`ToolPool`]. Dropping the task cancels the future, which is dropped after its current poll.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::sync::Arc;
/// use toolkit_runtime::ToolPool;
///
/// let state = Arc::new(());
/// let held = Arc::clone(&state);
/// let task = ToolPool::new().spawn("endless", async move {
///     let _held = held;
///     std::future::pending::<()>().await
/// });
/// drop(task);
/// while Arc::strong_count(&state) > 1 {
///     tokio::task::yield_now().await;
/// }
/// # }
/// ```
#[must_use]
pub struct Task<T>(FallibleTask<T, Origin>);

/// The error of a future that panicked, or whose runtime has shut down.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use toolkit_runtime::{Panicked, ToolPool};
///
/// let pool = ToolPool::new();
/// let task = pool.spawn("first", async { Vec::<u64>::new()[0] });
/// assert_eq!(task.await, Err(Panicked));
/// assert_eq!(pool.spawn("second", async { 42 }).await, Ok(42));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

impl ToolPool {
    /// Creates a pool without threads. Threads start on demand.
    #[must_use]
    pub fn new() -> Self {
        Self { threads: Arc::new(Threads::default()) }
    }

    /// Returns the pool of the process, which all servers share.
    #[must_use]
    pub fn shared() -> Self {
        static SHARED: std::sync::OnceLock<ToolPool> = std::sync::OnceLock::new();
        SHARED.get_or_init(ToolPool::new).clone()
    }

    /// Spawns a future of a tool.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn spawn<F>(&self, tool: &str, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let (runnable, task) = self.prepare(Handle::current(), tool, future);
        runnable.schedule();
        task
    }

    /// Creates the task of a future that the pool does not have yet.
    fn prepare<F>(&self, runtime: Handle, tool: &str, future: F) -> (Runnable, Task<F::Output>)
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let origin = Origin { runtime, tool: hash(tool) };
        let threads = Arc::clone(&self.threads);
        let schedule = move |runnable| threads.push(runnable);
        let (runnable, task) = Builder::new().metadata(origin).spawn(|_| future, schedule);
        (runnable, Task(task.fallible()))
    }
}

impl ToolPool {
    /// Runs a function of a tool in the background. The pool does not report when it has ended.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn run(&self, tool: &str, work: impl FnOnce() + Send + 'static) {
        self.spawn(tool, async move { work() }).0.detach();
    }
}

/// Returns the FNV-1a hash of a tool's name. If two are equal, the tools share their turns, so it needs no random key.
fn hash(tool: &str) -> u64 {
    tool.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

impl<T> Future for Task<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if self.0.is_finished() {
            return Pin::new(&mut self.0).poll(cx).map(|output| output.ok_or(Panicked));
        }
        let waker = ended::collected(cx.waker());
        Pin::new(&mut self.0).poll(&mut Context::from_waker(&waker)).map(|output| output.ok_or(Panicked))
    }
}

impl Default for ToolPool {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ToolPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPool").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the task panicked")
    }
}

impl std::error::Error for Panicked {}
