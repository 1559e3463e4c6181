//! The threads of a pool, and the queue in front of them.

use std::collections::{HashMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::load::{ThreadStat, n_cores, n_running};

pub(super) type Runnable = async_task::Runnable<Origin>;

/// Where a future comes from.
pub(super) struct Origin {
    pub(super) runtime: Handle,
    /// Tells one tool from another.
    pub(super) tool: u64,
}

/// How often a queue that is not empty is looked at. A pool in which no poll has ended in between has stalled.
const TICK: Duration = Duration::from_millis(1);

/// How long a pool must have stalled for another thread of a tool that has one, when all cores are busy: more threads
/// would only share the same cores, and take memory.
const BUSY_TICK: Duration = Duration::from_millis(250);

/// How long a thread waits for something to do before it ends.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// The threads of a pool.
#[derive(Default)]
pub(super) struct Threads {
    state: Mutex<State>,
    /// Wakes idle threads.
    work: Condvar,
    /// Wakes the monitor.
    stalled: Condvar,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Runnable>,
    /// How many threads poll futures of each tool.
    running: HashMap<u64, usize>,
    stats: HashMap<usize, Arc<ThreadStat>>,
    next_thread: usize,
    n_threads: usize,
    n_idle: usize,
    /// Idle threads that were woken and have not taken anything yet.
    n_woken: usize,
    /// Counts polls that have ended.
    n_done: u64,
    has_monitor: bool,
}

impl Threads {
    pub(super) fn push(self: &Arc<Self>, runnable: Runnable) {
        let mut state = self.state();
        state.queue.push_back(runnable);
        let n_busy = state.n_threads - state.n_idle + state.n_woken;
        if n_busy < n_cores() {
            self.add(state);
        } else if !state.has_monitor {
            state.has_monitor = self.start_monitor();
        } else if state.queue.len() == 1 {
            drop(state);
            self.stalled.notify_one();
        }
    }

    /// Lets one more thread take from the queue.
    fn add(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.n_idle > state.n_woken {
            state.n_woken += 1;
            drop(state);
            self.work.notify_one();
            return;
        }
        state.n_threads += 1;
        let nth = state.next_thread;
        state.next_thread += 1;
        drop(state);
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit tool".to_owned()).spawn(move || threads.work(nth));
        if let Err(error) = started {
            tracing::error!(%error, "cannot start a thread for tools");
            self.state().n_threads -= 1;
        }
    }

    fn work(&self, nth: usize) {
        let stat = ThreadStat::of_this_thread().map(Arc::new);
        let mut state = self.state();
        if let Some(stat) = stat {
            state.stats.insert(nth, stat);
        }
        loop {
            if let Some(runnable) = state.queue.pop_front() {
                let tool = runnable.metadata().tool;
                *state.running.entry(tool).or_default() += 1;
                drop(state);
                run(runnable);
                state = self.state();
                state.ended(tool);
                continue;
            }
            state.n_idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.n_idle -= 1;
            state.n_woken = state.n_woken.saturating_sub(1);
            if waited.timed_out() && state.queue.is_empty() {
                state.n_threads -= 1;
                state.stats.remove(&nth);
                return;
            }
        }
    }

    fn start_monitor(self: &Arc<Self>) -> bool {
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit pool".to_owned()).spawn(move || threads.monitor());
        started.inspect_err(|error| tracing::error!(%error, "cannot watch the threads for tools")).is_ok()
    }

    /// Adds threads whenever the queue stalls: one more each time as long as there are cores for them.
    fn monitor(self: &Arc<Self>) {
        let (mut seen, mut since, mut n_added) = (0, Instant::now(), 1_usize);
        loop {
            let mut state = self.state();
            while state.queue.is_empty() {
                (since, n_added) = (Instant::now(), 1);
                let (woken, waited) =
                    self.stalled.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if waited.timed_out() && state.queue.is_empty() {
                    state.has_monitor = false;
                    return;
                }
            }
            if state.n_done != seen {
                (seen, since, n_added) = (state.n_done, Instant::now(), 1);
            }
            let (n_queued, stats) = (state.queue.len(), state.stats.values().cloned().collect::<Vec<_>>());
            drop(state);
            if n_running(&stats) < n_cores() {
                if since.elapsed() >= TICK {
                    (0..n_added.min(n_queued)).for_each(|_| self.add(self.state()));
                    n_added += 1;
                }
            } else if self.put_other_tool_first() {
                self.add(self.state());
            } else if since.elapsed() >= BUSY_TICK {
                self.add(self.state());
                since = Instant::now();
            }
            std::thread::sleep(TICK);
        }
    }

    /// Puts a future of a tool that has no thread at the head of the queue, if there is one.
    fn put_other_tool_first(&self) -> bool {
        let mut state = self.state();
        let State { queue, running, .. } = &mut *state;
        let other = queue.iter().position(|runnable| !running.contains_key(&runnable.metadata().tool));
        let Some(runnable) = other.and_then(|other| queue.remove(other)) else { return false };
        queue.push_front(runnable);
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn ended(&mut self, tool: u64) {
        self.n_done = self.n_done.wrapping_add(1);
        if let Some(n_running) = self.running.get_mut(&tool) {
            *n_running -= 1;
            if *n_running == 0 {
                self.running.remove(&tool);
            }
        }
    }
}

/// Polls a future once, inside of the runtime that spawned it. If it panics, its task reports that.
fn run(runnable: Runnable) {
    let runtime = runnable.metadata().runtime.clone();
    let _on_runtime = runtime.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| runnable.run()));
}
