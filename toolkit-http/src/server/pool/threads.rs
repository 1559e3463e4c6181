//! The threads of a pool, and the queue in front of them.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::runtime::Handle;

type Runnable = async_task::Runnable<Handle>;

/// How often a queue that is not empty is looked at. A queue from which nothing was taken in between has stalled.
const TICK: Duration = Duration::from_millis(1);

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
    n_threads: usize,
    n_idle: usize,
    /// Idle threads that were woken and have not taken anything yet.
    n_woken: usize,
    /// Counts what was taken from the queue.
    n_taken: u64,
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
        drop(state);
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit tool".to_owned()).spawn(move || threads.work());
        if let Err(error) = started {
            tracing::error!(%error, "cannot start a thread for tools");
            self.state().n_threads -= 1;
        }
    }

    fn work(&self) {
        let mut state = self.state();
        loop {
            if let Some(runnable) = state.queue.pop_front() {
                state.n_taken = state.n_taken.wrapping_add(1);
                drop(state);
                run(runnable);
                state = self.state();
                continue;
            }
            state.n_idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.n_idle -= 1;
            state.n_woken = state.n_woken.saturating_sub(1);
            if waited.timed_out() && state.queue.is_empty() {
                state.n_threads -= 1;
                return;
            }
        }
    }

    fn start_monitor(self: &Arc<Self>) -> bool {
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit pool".to_owned()).spawn(move || threads.monitor());
        started.inspect_err(|error| tracing::error!(%error, "cannot watch the threads for tools")).is_ok()
    }

    /// Adds threads whenever the queue stalls, twice as many each time.
    fn monitor(self: &Arc<Self>) {
        let mut seen = 0;
        let mut n_added = 1_usize;
        loop {
            let mut state = self.state();
            while state.queue.is_empty() {
                n_added = 1;
                let (woken, waited) =
                    self.stalled.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                if waited.timed_out() && state.queue.is_empty() {
                    state.has_monitor = false;
                    return;
                }
            }
            let has_stalled = state.n_taken == seen;
            seen = state.n_taken;
            let n_queued = state.queue.len();
            drop(state);
            if has_stalled {
                for _ in 0..n_added.min(n_queued) {
                    self.add(self.state());
                }
                n_added = n_added.saturating_mul(2);
            } else {
                n_added = 1;
            }
            std::thread::sleep(TICK);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Polls a future once, inside of the runtime that spawned it. If it panics, its task reports that.
fn run(runnable: Runnable) {
    let runtime = runnable.metadata().clone();
    let _on_runtime = runtime.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| runnable.run()));
}

fn n_cores() -> usize {
    static N_CORES: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *N_CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from))
}
