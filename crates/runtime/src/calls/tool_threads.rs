//! Tasks of tools, which run on the threads for tools, so that a tool that blocks never delays I/O.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use async_task::FallibleTask;

use super::thread_pool::{Origin, schedule};

/// Spawns a future of a tool on the threads for tools, where it may block.
///
/// It is polled and dropped within the current tokio runtime, so its timers, sockets and tasks are those of that
/// runtime. The threads are neither: a tool may wait for a future on them, for example with [`Handle::block_on`](tokio::runtime::Handle::block_on). All
/// of them belong to the process and do not keep it alive.
///
/// There is a thread for each call that blocks, so bound the calls, for example with a
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
/// let tasks: Vec<_> = (0..100).map(|_| spawn_tool("slow", slow())).collect();
/// assert_eq!(spawn_tool("quick", async { 6 * 7 }).await, Ok(42));
/// # drop(tasks);
/// # });
/// ```
pub fn spawn_tool<F>(tool: &str, future: F) -> Task<F::Output>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    let builder = async_task::Builder::new().metadata(Origin::new(tool));
    let (runnable, task) = builder.spawn(|_| future, schedule);
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
/// toolkit_runtime::run_tool("answer", move || drop(sender.send(6 * 7)));
/// assert_eq!(receiver.await, Ok(42));
/// # }
/// ```
pub fn run_tool(tool: &str, work: impl FnOnce() + Send + 'static) {
    spawn_tool(tool, async move { work() }).0.detach();
}

/// The size in bytes above which bodies are parsed on a thread for tools.
const SMALL_MESSAGE: usize = 64 << 10;

/// Parses a message of this size: a small one at once, and a large one on a thread for tools, since it would block this
/// thread for I/O.
///
/// # Errors
///
/// Returns an error if the parsing of a large message panics.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_runtime::Panicked> {
/// use toolkit_runtime::parse_message;
///
/// let message = "[1]".repeat(100_000);
/// assert_eq!(parse_message(message.len(), move || message.matches('1').count()).await?, 100_000);
/// # Ok(())
/// # }
/// ```
pub async fn parse_message<T>(n_bytes: usize, parse: impl FnOnce() -> T + Send + 'static) -> Result<T, Panicked>
where
    T: Send + 'static,
{
    if n_bytes <= SMALL_MESSAGE {
        return Ok(parse());
    }
    spawn_tool("reading of a message", async { parse() }).await.inspect_err(|_| {
        tracing::error!("parsing a message has panicked");
    })
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
/// let task = spawn_tool("endless", async move {
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

/// The error of a future that panicked.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use toolkit_runtime::{Panicked, spawn_tool};
///
/// assert_eq!(spawn_tool("first", async { Vec::<u64>::new()[0] }).await, Err(Panicked));
/// assert_eq!(spawn_tool("second", async { 42 }).await, Ok(42));
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
