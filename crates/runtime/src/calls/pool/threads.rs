//! The threads of a pool, their queue, and their load: the number of threads that use a core.

use std::collections::{HashSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::Waker;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;

use super::ended::{DeferredWakers, defer_wakeups, wake};

pub(super) type Runnable = async_task::Runnable<Origin>;

/// The origin of a future.
pub(super) struct Origin {
    pub(super) runtime: Handle,
    /// The hash of the tool's name.
    pub(super) tool: u64,
}

/// The interval at which the monitor looks at a queue that is not empty. A pool without an ended poll in an interval
/// has stalled.
const TICK: Duration = Duration::from_millis(1);

/// The time for which a pool must have stalled to get another thread for a tool that has one while all cores are busy.
/// Earlier, more threads would only take memory and share the same cores.
const BUSY_TICK: Duration = Duration::from_millis(250);

/// The maximum delay of a wakeup while its thread has more work.
const MAX_WAKE_DELAY: Duration = Duration::from_micros(100);

/// The interval at which the monitor looks at a queue that has not stalled for [`CALM_TICKS`].
const CALM_TICK: Duration = Duration::from_millis(4);

const CALM_TICKS: u32 = 50;

/// The number of ticks without work after which the monitor sleeps until it is notified.
const IDLE_TICKS: u32 = 3;

/// The time after which an idle thread ends.
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
    /// The threads, each with a number of its own that it keeps until it ends.
    workers: Vec<Option<Worker>>,
    n_threads: usize,
    n_idle: usize,
    /// The number of idle threads that were notified and have not taken a future yet.
    n_woken: usize,
    /// The number of polls that have ended.
    n_done: u64,
    /// The deferred wakers of ended calls.
    ended: DeferredWakers,
    /// True if a task that adds threads was spawned on the runtime.
    is_filling: bool,
    has_monitor: bool,
    is_monitor_asleep: bool,
}

/// A thread of the pool.
#[derive(Default)]
struct Worker {
    /// The tool whose future it polls.
    tool: Option<u64>,
    stat: Option<Arc<ThreadStat>>,
}

impl Threads {
    pub(super) fn push(self: &Arc<Self>, runnable: Runnable) {
        let runtime = runnable.metadata().runtime.clone();
        let mut state = self.state();
        state.queue.push_back(runnable);
        let fills = state.n_busy() < n_cores() && !std::mem::replace(&mut state.is_filling, true);
        self.keep_monitor(state);
        if fills {
            // The runtime mostly has more futures to push. Notifying a thread for each of them would take the core away
            // each time.
            let filling = Filling(Arc::clone(self));
            runtime.spawn(async move {
                tokio::task::yield_now().await;
                drop(filling);
            });
        }
    }

    /// Adds futures to the queue and starts threads for them at once. Leaves an empty list.
    pub(super) fn push_all(self: &Arc<Self>, runnables: &mut Vec<Runnable>) {
        let mut state = self.state();
        state.queue.extend(runnables.drain(..));
        self.keep_monitor(state);
        self.fill();
    }

    /// Adds threads for the queued futures, up to the number of cores.
    fn fill(self: &Arc<Self>) {
        let mut state = self.state();
        state.is_filling = false;
        let n_wanted = state.queue.len().min(n_cores().saturating_sub(state.n_busy()));
        drop(state);
        (0..n_wanted).for_each(|_| self.add(self.state()));
    }

    /// Starts or notifies the monitor.
    fn keep_monitor(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if !state.has_monitor {
            state.has_monitor = self.start_monitor();
        } else if std::mem::take(&mut state.is_monitor_asleep) {
            drop(state);
            self.stalled.notify_one();
        }
    }

    /// Notifies an idle thread or starts a new one.
    fn add(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.n_idle > state.n_woken {
            state.n_woken += 1;
            drop(state);
            self.work.notify_one();
            return;
        }
        state.n_threads += 1;
        let nth = state.add_worker();
        drop(state);
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit tool".to_owned()).spawn(move || threads.work(nth));
        if let Err(error) = started {
            tracing::error!(%error, "cannot start a thread of the tool pool");
            let mut state = self.state();
            state.n_threads -= 1;
            state.workers[nth] = None;
        }
    }

    fn work(&self, nth: usize) {
        let stat = ThreadStat::of_this_thread().map(Arc::new);
        defer_wakeups();
        let mut state = self.state();
        state.workers[nth] = Some(Worker { tool: None, stat });
        loop {
            if let Some(runnable) = state.queue.pop_front() {
                state.polls(nth, Some(runnable.metadata().tool));
                drop(state);
                let runtime = run(runnable);
                state = self.state();
                state.polls(nth, None);
                state.n_done = state.n_done.wrapping_add(1);
                state.ended.take_deferred();
                let is_late = state.ended.since().is_some_and(|since| since.elapsed() >= MAX_WAKE_DELAY);
                if state.queue.is_empty() || is_late {
                    let wakers = state.ended.take();
                    drop(state);
                    wake(wakers, &runtime);
                    state = self.state();
                }
                continue;
            }
            state.n_idle += 1;
            let (woken, waited) = self.work.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
            state = woken;
            state.n_idle -= 1;
            state.n_woken = state.n_woken.saturating_sub(1);
            if waited.timed_out() && state.queue.is_empty() {
                state.n_threads -= 1;
                state.workers[nth] = None;
                return;
            }
        }
    }

    fn start_monitor(self: &Arc<Self>) -> bool {
        let threads = Arc::clone(self);
        let started = std::thread::Builder::new().name("toolkit pool".to_owned()).spawn(move || threads.monitor());
        started.inspect_err(|error| tracing::error!(%error, "cannot start the monitor of the tool pool")).is_ok()
    }

    /// Adds threads whenever the queue stalls, one more each time while cores are free.
    fn monitor(self: &Arc<Self>) {
        let (mut seen, mut since, mut n_added) = (0, Instant::now(), 1_usize);
        let (mut n_idle, mut n_calm) = (0, 0_u32);
        loop {
            let mut state = self.state();
            n_idle = if state.is_quiet() { n_idle + 1 } else { 0 };
            while n_idle > IDLE_TICKS && state.is_quiet() {
                state.is_monitor_asleep = true;
                let (woken, waited) =
                    self.stalled.wait_timeout(state, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
                state = woken;
                state.is_monitor_asleep = false;
                if waited.timed_out() && state.is_quiet() {
                    state.has_monitor = false;
                    return;
                }
            }
            if state.n_done != seen || state.is_quiet() {
                (seen, since, n_added) = (state.n_done, Instant::now(), 1);
                n_calm = n_calm.saturating_add(1);
                drop(state);
            } else if since.elapsed() >= TICK {
                n_calm = 0;
                self.relieve(state, &mut since, &mut n_added);
            } else {
                drop(state);
            }
            std::thread::sleep(if n_calm < CALM_TICKS { TICK } else { CALM_TICK });
        }
    }

    /// Handles a stalled pool: wakes deferred tasks, and adds threads if futures are queued.
    fn relieve(self: &Arc<Self>, mut state: MutexGuard<'_, State>, since: &mut Instant, n_added: &mut usize) {
        let (wakers, n_queued) = (state.ended.take(), state.queue.len());
        let stats: Vec<_> = state.workers.iter().flatten().filter_map(|worker| worker.stat.clone()).collect();
        drop(state);
        wakers.into_iter().for_each(Waker::wake);
        if n_queued == 0 {
            return;
        }
        if n_running(&stats) < n_cores() {
            (0..(*n_added).min(n_queued)).for_each(|_| self.add(self.state()));
            *n_added += 1;
        } else if self.put_other_tool_first() {
            self.add(self.state());
        } else if since.elapsed() >= BUSY_TICK {
            self.add(self.state());
            *since = Instant::now();
        }
    }

    /// Moves a future of a tool without a thread to the head of the queue. Returns false if there is none.
    fn put_other_tool_first(&self) -> bool {
        let mut state = self.state();
        let State { queue, workers, .. } = &mut *state;
        let running: HashSet<u64> = workers.iter().flatten().filter_map(|worker| worker.tool).collect();
        let other = queue.iter().position(|runnable| !running.contains(&runnable.metadata().tool));
        let Some(runnable) = other.and_then(|other| queue.remove(other)) else { return false };
        queue.push_front(runnable);
        true
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the number of threads that have work or were notified of some.
    fn n_busy(&self) -> usize {
        self.n_threads - self.n_idle + self.n_woken
    }

    /// Returns true if the queue is empty and no wakeups are deferred.
    fn is_quiet(&self) -> bool {
        self.queue.is_empty() && self.ended.since().is_none()
    }

    /// Returns the number of a new thread.
    fn add_worker(&mut self) -> usize {
        let free = self.workers.iter().position(Option::is_none);
        let nth = free.unwrap_or(self.workers.len());
        if free.is_none() {
            self.workers.push(None);
        }
        self.workers[nth] = Some(Worker::default());
        nth
    }

    /// Records the tool whose future a thread polls.
    fn polls(&mut self, nth: usize, tool: Option<u64>) {
        if let Some(worker) = &mut self.workers[nth] {
            worker.tool = tool;
        }
    }
}

/// A guard that adds threads on drop, so also when the runtime shuts down.
struct Filling(Arc<Threads>);

impl Drop for Filling {
    fn drop(&mut self) {
        self.0.fill();
    }
}

/// Polls a future once within the runtime that spawned it, and returns that runtime. The task reports a panic.
fn run(runnable: Runnable) -> Handle {
    let runtime = runnable.metadata().runtime.clone();
    let on_runtime = runtime.enter();
    let _ = catch_unwind(AssertUnwindSafe(|| runnable.run()));
    drop(on_runtime);
    runtime
}

/// The file `/proc/PID/task/TID/stat`, which holds the state of a thread on Linux.
struct ThreadStat(PathBuf);

impl ThreadStat {
    /// Returns the file of the current thread, or `None` where the system has no such file. Such threads count as
    /// waiting.
    fn of_this_thread() -> Option<Self> {
        let thread = std::fs::read_link("/proc/thread-self").ok()?;
        Some(Self(PathBuf::from("/proc").join(thread).join("stat")))
    }

    fn is_running(&self) -> bool {
        // The format is `TID (name) STATE …`. A name never contains `") "`, since this crate sets it.
        let stat = std::fs::read_to_string(&self.0).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
    }
}

/// Counts the threads that are runnable, at most the number of cores.
fn n_running(stats: &[Arc<ThreadStat>]) -> usize {
    stats.iter().filter(|stat| stat.is_running()).take(n_cores()).count()
}

fn n_cores() -> usize {
    static N_CORES: OnceLock<usize> = OnceLock::new();
    *N_CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, usize::from))
}
