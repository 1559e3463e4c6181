//! Polls of tools that a thread of a server runs itself, which saves two switches between threads for each call.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::task::Poll;

use super::slow_tools::slow_tools;
use super::thread_pool::{COLLECTED, Runnable, push, run};

/// The first polls of tools, which the thread that has spawned them runs itself. Dropping this hands the rest to the threads
/// for tools.
///
/// A tool may block, so the thread must do nothing that others wait for.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use toolkit_runtime::{ToolPolls, spawn_tool};
///
/// let mut task = None;
/// let mut polls = ToolPolls::collect(|| task = Some(spawn_tool("where", async { std::thread::current().id() })));
/// while let Some(poll) = polls.next() {
///     poll.run();
/// }
/// assert_eq!(task.unwrap().await, Ok(std::thread::current().id()));
/// # }
/// ```
#[derive(Default)]
pub struct ToolPolls(VecDeque<Runnable>);

/// A poll of a tool. Dropping it cancels its task.
#[must_use]
pub struct ToolPoll(Runnable);

impl ToolPolls {
    /// Runs `start`, and collects the polls of the tools that it spawns.
    pub fn collect(start: impl FnOnce()) -> Self {
        /// Ends the collection, also when `start` panics.
        struct Collecting;

        impl Drop for Collecting {
            fn drop(&mut self) {
                drop(taken());
            }
        }

        COLLECTED.set(Some(VecDeque::new()));
        let _collecting = Collecting;
        start();
        taken()
    }

    /// Returns the next poll that this thread runs. Those before it, of tools that have stalled, run on the threads for tools.
    #[expect(clippy::should_implement_trait, reason = "it is not a sequence that callers combine")]
    pub fn next(&mut self) -> Option<ToolPoll> {
        loop {
            let poll = ToolPoll(self.0.pop_front()?);
            if !slow_tools().hands_over(poll.tool()) {
                return Some(poll);
            }
            poll.hand_over();
        }
    }
}

/// Ends a collection and returns its polls.
fn taken() -> ToolPolls {
    ToolPolls(COLLECTED.take().unwrap_or_default())
}

impl ToolPoll {
    /// Returns a number for the tool, which is the same for all of its calls.
    pub fn tool(&self) -> u64 {
        self.0.metadata().tool
    }

    /// Polls the future on this thread, where it may block. Later polls happen on the threads for tools.
    pub fn run(self) {
        let tool = self.tool();
        let n_stalls = slow_tools().n_stalls(tool);
        run(self.0);
        slow_tools().remove(tool, n_stalls);
    }

    /// Hands the poll to the threads for tools.
    pub fn hand_over(self) {
        push(self.0);
    }
}

/// Records that a thread of a server waits for a poll of a tool for too long, by its [number](ToolPoll::tool). The next calls
/// of the tool run on the threads for tools: one, and twice as many each time that the tool stalls again at once, up to 16.
pub fn record_stall(tool: u64) {
    slow_tools().add(tool);
}

/// Waits until the polls are run that this thread collects, if it does. The thread then polls the future again.
pub async fn collected() {
    let mut is_collecting = COLLECTED.with_borrow(Option::is_some);
    poll_fn(|cx| {
        if !std::mem::take(&mut is_collecting) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

impl Drop for ToolPolls {
    fn drop(&mut self) {
        self.0.drain(..).for_each(push);
    }
}

impl fmt::Debug for ToolPolls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPolls").field("len", &self.0.len()).finish()
    }
}

impl fmt::Debug for ToolPoll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolPoll").finish_non_exhaustive()
    }
}
