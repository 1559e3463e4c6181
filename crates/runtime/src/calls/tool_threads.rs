//! Threads for tools, so that a tool that blocks never delays I/O.
//!
//! A tool may block in any poll, and nothing shows beforehand that it will. While calls are queued, one thread is
//! therefore always outside of a poll: a thread that takes the next call starts another one first, unless there is one
//! that waits for its turn.

use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll};

use async_task::FallibleTask;
use tokio::runtime::{Builder, Handle, Runtime};

/// Spawns a future of a tool on the threads for tools, where it may block.
///
/// It is polled and dropped within the current tokio runtime, so its timers, sockets and tasks are those of that
/// runtime. The threads are neither: a tool may wait for a future on them, for example with [`Handle::block_on`]. All
/// of them belong to the process and do not keep it alive.
///
/// There is a thread for each tool that blocks, so bound the calls, for example with a
/// [`CallLimiter`](super::CallLimiter).
///
/// # Panics
///
/// Panics outside of a tokio runtime.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use std::time::Duration;
/// use toolkit_runtime::spawn_tool;
///
/// let slow = || async { std::thread::sleep(Duration::from_millis(100)) };
/// let tasks: Vec<_> = (0..100).map(|_| spawn_tool(slow())).collect();
/// assert_eq!(spawn_tool(async { 6 * 7 }).await, Ok(42));
/// # drop(tasks);
/// # });
/// ```
pub fn spawn_tool<F>(future: F) -> Task<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let builder = async_task::Builder::new().metadata(Handle::current());
    let (runnable, task) = builder.spawn(|_| future, |runnable| threads().push(runnable));
    runnable.schedule();
    Task(task.fallible())
}

/// Runs a function of a tool on the threads for tools. Nothing reports that it has ended.
///
/// # Panics
///
/// Panics outside of a tokio runtime.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let (sender, receiver) = tokio::sync::oneshot::channel();
/// toolkit_runtime::run_tool(move || drop(sender.send(6 * 7)));
/// assert_eq!(receiver.await, Ok(42));
/// # }
/// ```
pub fn run_tool(work: impl FnOnce() + Send + 'static) {
    spawn_tool(async move { work() }).0.detach();
}

/// A future that was spawned with [`spawn_tool`]. Dropping the task cancels the future, which is dropped after its
/// current poll.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use std::sync::Arc;
/// use toolkit_runtime::spawn_tool;
///
/// let state = Arc::new(());
/// let held = Arc::clone(&state);
/// let task = spawn_tool(async move {
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
pub struct Task<T>(FallibleTask<T, Handle>);

/// The error of a future that panicked.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use toolkit_runtime::{Panicked, spawn_tool};
///
/// assert_eq!(spawn_tool(async { Vec::<u64>::new()[0] }).await, Err(Panicked));
/// assert_eq!(spawn_tool(async { 42 }).await, Ok(42));
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Panicked;

impl<T> Future for Task<T> {
    type Output = Result<T, Panicked>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map(|output| output.ok_or(Panicked))
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

// The threads and their queue.

/// A poll of a future, within the runtime that spawned it.
type Runnable = async_task::Runnable<Handle>;

/// The threads for tools.
struct Threads {
    /// The runtime whose blocking threads these are. No task runs on it, and it never ends.
    runtime: Runtime,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Runnable>,
    /// The number of threads that run tools until the queue is empty.
    n_threads: usize,
    /// The number of these threads that are not in a poll, including those that are about to start.
    n_free: usize,
}

/// The maximum number of threads, which the permits of calls bound.
const MAX_THREADS: usize = 1 << 20;

fn threads() -> &'static Threads {
    static THREADS: OnceLock<Threads> = OnceLock::new();
    THREADS.get_or_init(|| {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.thread_name("toolkit tool").max_blocking_threads(MAX_THREADS).build();
        Threads { runtime: runtime.expect("a runtime without I/O starts no thread"), state: Mutex::default() }
    })
}

impl Threads {
    fn push(&'static self, runnable: Runnable) {
        let mut state = self.state();
        state.queue.push_back(runnable);
        self.keep_one_free(state);
    }

    /// Starts a thread if calls are queued and all threads are in polls.
    fn keep_one_free(&'static self, mut state: MutexGuard<'_, State>) {
        if state.n_free > 0 || state.queue.is_empty() {
            return;
        }
        state.n_threads += 1;
        state.n_free += 1;
        drop(state);
        self.runtime.spawn_blocking(|| self.work());
    }

    fn work(&'static self) {
        let mut state = self.state();
        if state.n_threads <= max_computing() {
            // The thread that has queued a call mostly has more, and takes the core back for each of them otherwise.
            drop(state);
            std::thread::yield_now();
            state = self.state();
        }
        while let Some(runnable) = state.queue.pop_front() {
            state.n_free -= 1;
            self.keep_one_free(state);
            run(runnable);
            state = self.state();
            state.n_free += 1;
            // More threads than cores are of use only while they block.
            if state.n_threads > max_computing() && state.n_free > 1 {
                break;
            }
        }
        state.n_threads -= 1;
        state.n_free -= 1;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls a future once. Its task reports a panic.
fn run(runnable: Runnable) {
    let origin = runnable.metadata().clone();
    let _within = origin.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| runnable.run()));
}

/// Returns the number of threads beyond which those that are not in a poll end.
fn max_computing() -> usize {
    static N_CORES: OnceLock<usize> = OnceLock::new();
    *N_CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from)) + 1
}
