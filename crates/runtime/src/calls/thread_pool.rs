//! The threads for tools, and the queue of the polls that they run.
//!
//! A tool may block in any poll, and nothing shows beforehand that it will. While calls are queued, one thread is
//! therefore always outside of a poll: a thread that takes the next call starts another one first, unless there is one
//! that waits for its turn.
//!
//! That thread takes the next call at once as long as there is a core for each poll. Beyond, polls that compute would only
//! share the cores, and hold their memory together. The thread then takes calls of tools without a thread, and those of
//! other tools if the polls in progress block.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Condvar, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle, Runtime};

use crate::mutex::Mutex;

/// A poll of a future.
pub(super) type Runnable = async_task::Runnable<Origin>;

/// The origin of a future.
pub(super) struct Origin {
    /// The runtime that spawned it, within which it is polled.
    runtime: Handle,
    /// The hash of the tool's name.
    pub(super) tool: u64,
}

impl Origin {
    /// Creates the origin of a tool's future that this thread spawns.
    pub(super) fn new(tool: &str) -> Self {
        Self { runtime: Handle::current(), tool: hash(tool) }
    }
}

thread_local! {
    /// The polls that this thread collects in order to run them itself; see [`ToolPolls`](super::ToolPolls).
    pub(super) static COLLECTED: RefCell<Option<VecDeque<Runnable>>> = const { RefCell::new(None) };
}

/// Queues a poll for the threads for tools, unless this thread collects polls.
pub(super) fn schedule(runnable: Runnable) {
    let mut runnable = Some(runnable);
    // A future may be woken while the thread ends.
    let _ = COLLECTED.try_with(|collected| {
        if let Some(collected) = &mut *collected.borrow_mut() {
            collected.extend(runnable.take());
        }
    });
    runnable.into_iter().for_each(push);
}

/// Queues a poll for the threads for tools.
pub(super) fn push(runnable: Runnable) {
    threads().push(runnable);
}

/// The threads for tools.
struct Threads {
    /// The runtime whose blocking threads these are. No task runs on it, and it never ends.
    runtime: Runtime,
    state: Mutex<ThreadsState>,
    /// Wakes the watching thread when a queued call may be polled.
    may_poll: Condvar,
}

#[derive(Default)]
struct ThreadsState {
    queue: VecDeque<Runnable>,
    /// The number of threads that run tools until the queue is empty.
    n_threads: usize,
    /// The number of these threads that are not in a poll, including those that are about to start.
    n_free: usize,
    /// The number of polls in progress, by the hash of the tool's name.
    polled: BTreeMap<u64, usize>,
    /// The number of polls that have ended.
    n_ended: u64,
    /// The number of polls up to which a queued call is polled at once. Beyond it, a thread watches whether they end.
    max_prompt: usize,
    is_watched: bool,
}

/// The name of the threads. Linux keeps 15 bytes of a name.
const NAME: &str = "toolkit tool";

/// The maximum number of threads, which the permits of calls bound.
const MAX_THREADS: usize = 1 << 20;

/// The interval at which the watching thread looks at the polls. Polls of which none ends for an interval have stalled.
const TICK: Duration = Duration::from_millis(2);

/// The time after which stalled polls make room for another call although they keep the cores busy. Earlier, it would only
/// share the cores and take memory.
const MAX_STALL: Duration = Duration::from_millis(250);

fn threads() -> &'static Threads {
    static THREADS: OnceLock<Threads> = OnceLock::new();
    THREADS.get_or_init(|| {
        let mut builder = Builder::new_current_thread();
        let runtime = builder.thread_name(NAME).max_blocking_threads(MAX_THREADS).build();
        let state = ThreadsState { max_prompt: max_computing(), ..ThreadsState::default() };
        let runtime = runtime.expect("a runtime without I/O starts no thread");
        Threads { runtime, state: Mutex::new(state), may_poll: Condvar::new() }
    })
}

impl Threads {
    fn push(&'static self, runnable: Runnable) {
        let mut state = self.state.lock();
        if state.queue.is_empty() && state.n_polls() < max_computing() {
            state.max_prompt = max_computing();
        }
        state.queue.push_back(runnable);
        if state.is_watched && state.position().is_some() {
            self.may_poll.notify_one();
        }
        self.keep_one_free(state);
    }

    /// Starts a thread if calls are queued and all threads are in polls.
    fn keep_one_free(&'static self, mut state: MutexGuard<'_, ThreadsState>) {
        if state.n_free > 0 || state.queue.is_empty() {
            return;
        }
        state.n_threads += 1;
        state.n_free += 1;
        drop(state);
        self.runtime.spawn_blocking(|| self.work());
    }

    fn work(&'static self) {
        let mut state = self.state.lock();
        loop {
            let Some(runnable) = state.next() else {
                if state.queue.is_empty() || std::mem::replace(&mut state.is_watched, true) {
                    break;
                }
                state = self.watch(state);
                state.is_watched = false;
                continue;
            };
            let tool = runnable.metadata().tool;
            *state.polled.entry(tool).or_default() += 1;
            state.n_free -= 1;
            self.keep_one_free(state);
            run(runnable);
            state = self.state.lock();
            state.end(tool);
        }
        state.n_threads -= 1;
        state.n_free -= 1;
    }

    /// Waits until a queued call may be polled: a poll has ended, the queue is empty or has a call of another tool, or
    /// the polls in progress block, in which case twice as many are polled at once from now on.
    fn watch<'a>(&'a self, mut state: MutexGuard<'a, ThreadsState>) -> MutexGuard<'a, ThreadsState> {
        let (mut seen, mut since) = (state.n_ended, Instant::now());
        loop {
            state = self.may_poll.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            if state.queue.is_empty() || state.position().is_some() {
                return state;
            }
            if state.n_ended != seen {
                (seen, since) = (state.n_ended, Instant::now());
                continue;
            }
            drop(state);
            let computes = n_running() >= n_cores();
            state = self.state.lock();
            if !computes {
                state.max_prompt = state.n_polls() * 2;
            } else if since.elapsed() >= MAX_STALL {
                state.max_prompt = state.n_polls() + 1;
            }
        }
    }
}

impl ThreadsState {
    /// Takes the next call that may be polled now.
    fn next(&mut self) -> Option<Runnable> {
        let position = self.position()?;
        self.queue.remove(position)
    }

    /// Returns the position of the next call that may be polled now: the first, or beyond the prompt ones the first of a
    /// tool that has no thread.
    fn position(&self) -> Option<usize> {
        if self.n_polls() < self.max_prompt {
            return (!self.queue.is_empty()).then_some(0);
        }
        self.queue.iter().position(|runnable| !self.polled.contains_key(&runnable.metadata().tool))
    }

    /// Counts the end of a poll.
    fn end(&mut self, tool: u64) {
        self.n_free += 1;
        self.n_ended = self.n_ended.wrapping_add(1);
        if let Some(n_polls) = self.polled.get_mut(&tool) {
            *n_polls -= 1;
            if *n_polls == 0 {
                self.polled.remove(&tool);
            }
        }
    }

    fn n_polls(&self) -> usize {
        self.n_threads - self.n_free
    }
}

/// Polls a future once. Its task reports a panic.
pub(super) fn run(runnable: Runnable) {
    let origin = runnable.metadata().runtime.clone();
    let _within = origin.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| runnable.run()));
}

/// Counts the other threads for tools that are running or wait for a core, at most as many as there are cores. Where the
/// system has no `/proc`, the result is zero, so that all tools count as waiting.
fn n_running() -> usize {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return 0 };
    let is_running = |folder: &Path| {
        // The format is `TID (name) STATE …`.
        let stat = std::fs::read_to_string(folder.join("stat")).unwrap_or_default();
        stat.split_once(" (")
            .is_some_and(|(_, rest)| rest.strip_prefix(NAME).is_some_and(|rest| rest.starts_with(") R")))
    };
    let running = threads.flatten().filter(|thread| is_running(&thread.path()));
    // The first one is this thread.
    running.take(n_cores() + 1).count().saturating_sub(1)
}

/// Returns the FNV-1a hash of a tool's name. If two are equal, the tools share their turns, so it needs no random key.
fn hash(tool: &str) -> u64 {
    tool.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Returns the number of polls that keep the cores busy if all of them compute.
fn max_computing() -> usize {
    n_cores() + 1
}

pub(crate) fn n_cores() -> usize {
    static N_CORES: OnceLock<usize> = OnceLock::new();
    *N_CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from))
}

#[cfg(test)]
mod tests {
    use super::ThreadsState;

    /// Otherwise, a queued call of the tool would wait for polls that compute.
    #[test]
    fn a_tool_counts_as_polled_until_its_last_poll_has_ended() {
        let mut state = ThreadsState { n_threads: 2, polled: [(7, 2)].into(), ..ThreadsState::default() };
        state.end(7);
        assert_eq!((state.polled.get(&7), state.n_polls(), state.n_ended), (Some(&1), 1, 1));
        state.end(7);
        assert_eq!((state.polled.get(&7), state.n_polls(), state.n_ended), (None, 0, 2));
    }
}
