//! Threads for tools: whatever a tool does with its thread, no I/O waits for it.

mod ended;
mod load;
mod threads;

use std::fmt;
use std::future::Future;
use std::hash::{DefaultHasher, Hasher};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_task::{Builder, FallibleTask};
use tokio::runtime::Handle;

use self::threads::{Origin, Threads};

/// An elastic pool of threads that run futures which may block.
///
/// Every poll of a future, and its drop, happens on a thread of the pool, inside of the tokio runtime that spawned it. As
/// long as its threads make progress, the pool has as many as there are cores. When no poll has ended for some
/// milliseconds, it starts more threads: as many as needed while the threads wait (a tool sleeps), and one for each tool
/// that has none while they keep the cores busy (a tool computes). The number of threads is bounded by the number of
/// futures, which the caller bounds, as with a [`CallLimiter`](super::CallLimiter).
///
/// Threads are woken for several futures at once: the pool for those that one turn of a runtime spawns, and the runtime for
/// those that end within 100 µs while the pool has more to do.
///
/// The threads are detached: they keep no process alive.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use toolkit_http::ToolPool;
///
/// let pool = ToolPool::new();
/// let tasks: Vec<_> = (0..100).map(|_| pool.spawn("slow", async { std::thread::sleep(Duration::from_millis(100)) })).collect();
/// assert_eq!(pool.spawn("quick", async { 6 * 7 }).await, Ok(42));
/// # drop(tasks);
/// # });
/// ```
#[derive(Clone)]
pub struct ToolPool {
    threads: Arc<Threads>,
}

/// A future that runs on a [`ToolPool`]. Dropping it cancels the future: it is dropped as soon as it is not being polled.
#[must_use]
pub struct Task<T>(FallibleTask<T, Origin>);

/// The future panicked, or the pool's runtime has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

impl ToolPool {
    /// Creates a pool without threads; they start when they are needed.
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

    /// Runs a future of a tool.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn spawn<F>(&self, tool: &str, future: F) -> Task<F::Output>
    where
        F: Future<Output: Send + 'static> + Send + 'static,
    {
        let mut hasher = DefaultHasher::new();
        hasher.write(tool.as_bytes());
        let origin = Origin { runtime: Handle::current(), tool: hasher.finish() };
        let threads = Arc::clone(&self.threads);
        let schedule = move |runnable| threads.push(runnable);
        let (runnable, task) = Builder::new().metadata(origin).spawn(|_| future, schedule);
        runnable.schedule();
        Task(task.fallible())
    }
}

impl ToolPool {
    /// Runs a function of a tool, and leaves it to the function to report its end.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    pub fn run(&self, tool: &str, work: impl FnOnce() + Send + 'static) {
        self.spawn(tool, async move { work() }).0.detach();
    }
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
