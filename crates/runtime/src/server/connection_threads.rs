//! The threads that poll connections, and run the tools of the calls that these have received.
//!
//! A short call needs no switch between threads: the thread that waits for sockets leaves the wait, polls the connection that
//! is ready, runs its tool, and polls the connection again, which writes the response. A tool may block, though. A
//! thread therefore watches: a step that takes longer than a [`TICK`] has stalled, and another thread takes over the sockets
//! and the connections that are ready. The next calls of the tool that has stalled run on the threads for tools.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, MutexGuard, OnceLock, PoisonError};
use std::task::{Poll, Waker};
use std::thread::Builder;
use std::time::Duration;

use async_task::{ScheduleInfo, WithInfo};
use tokio::net::TcpStream;
use tokio::runtime::{Handle, Runtime};

use crate::calls::{ToolPoll, ToolPolls, n_cores, record_stall};
use crate::mutex::Mutex;

/// A poll of a connection, with the runtime of its server, within which it happens.
type ConnectionPoll = async_task::Runnable<Handle>;

/// The interval at which the watching thread looks at the steps.
const TICK: Duration = Duration::from_millis(1);

/// The number of calls of one connection that its thread runs in a row.
const MAX_CALLS: u32 = 16;

/// The number of steps after which a thread looks for events of sockets although connections are ready.
const MAX_STEPS: u32 = 61;

/// The threads of all connections of the process.
struct ConnectionThreads {
    /// The runtime of the sockets, which has no task. A thread drives it while no connection is ready.
    sockets: Runtime,
    state: Mutex<TurnState>,
    /// Wakes a thread that waits for connections.
    called: Condvar,
    /// Wakes the watching thread.
    begun: Condvar,
}

#[derive(Default)]
struct TurnState {
    ready: VecDeque<ConnectionPoll>,
    /// The connections that a tool has woken, which are polled first.
    answered: VecDeque<ConnectionPoll>,
    steps: Vec<Step>,
    n_steps: u64,
    /// The number of steps since a thread has looked for events of sockets.
    n_since_events: u32,
    n_ticks: u64,
    /// The number of threads that have not stalled.
    n_threads: usize,
    /// The number of these threads that wait for connections.
    n_waiting: usize,
    /// The number of waiting threads that were called and have not woken up yet.
    n_called: usize,
    /// True while a thread waits for events of sockets.
    is_driven: bool,
    /// Wakes the thread that waits for events of sockets.
    driver: Option<Waker>,
    is_watched: bool,
    is_watcher_asleep: bool,
}

/// A poll of a connection or a tool.
struct Step {
    nth: u64,
    tool: Option<u64>,
    /// The connection, if it waits for the tool.
    connection: Option<ConnectionPoll>,
    /// The tick before its begin.
    tick: u64,
}

thread_local! {
    static ON: Cell<On> = const { Cell::new(On::Other) };
}

/// The work of a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum On {
    /// Anything but a step.
    Other,
    /// The poll of a connection in a step.
    Connection(u64),
    /// The poll of a tool in a step.
    Tool(u64),
}

/// Spawns a connection, which is polled within the current runtime.
pub(super) fn spawn(connection: impl Future<Output = ()> + Send + 'static) {
    let builder = async_task::Builder::new().metadata(Handle::current());
    let (poll, task) = builder.spawn(|_| connection, WithInfo(|poll, info| threads().push(poll, info)));
    task.detach();
    poll.schedule();
}

/// Moves a socket from its runtime to that of the connections.
pub(super) fn adopt(stream: TcpStream) -> io::Result<TcpStream> {
    let stream = stream.into_std()?;
    let _within = threads().sockets.enter();
    TcpStream::from_std(stream)
}

fn threads() -> &'static ConnectionThreads {
    static THREADS: OnceLock<ConnectionThreads> = OnceLock::new();
    THREADS.get_or_init(|| ConnectionThreads {
        sockets: tokio::runtime::Builder::new_current_thread().enable_io().build().expect("the system has sockets"),
        state: Mutex::default(),
        called: Condvar::new(),
        begun: Condvar::new(),
    })
}

impl ConnectionThreads {
    fn push(&'static self, poll: ConnectionPoll, info: ScheduleInfo) {
        let on = ON.try_with(Cell::get).unwrap_or(On::Other);
        let mut state = self.state.lock();
        let step = match on {
            On::Other => None,
            On::Connection(nth) | On::Tool(nth) => state.step(nth),
        };
        // The thread of a step polls the connection next, unless it stalls.
        let has_thread = step.is_some();
        match (on, step) {
            (On::Connection(_), Some(step)) if info.woken_while_running => step.connection = Some(poll),
            (On::Tool(_), _) => state.answered.push_back(poll),
            _ => state.ready.push_back(poll),
        }
        if state.n_threads == 0 {
            self.call(&mut state);
        }
        let driver = if has_thread { None } else { state.driver.take() };
        drop(state);
        driver.into_iter().for_each(Waker::wake);
    }

    /// Lets another thread poll connections.
    fn call(&'static self, state: &mut TurnState) {
        if state.n_waiting > 0 {
            state.n_waiting -= 1;
            state.n_called += 1;
            self.called.notify_one();
        } else if thread().spawn(|| self.work()).is_ok() {
            state.n_threads += 1;
        }
    }

    fn work(&'static self) {
        let mut state = self.state.lock();
        loop {
            if !state.is_driven && (!state.is_ready() || state.n_since_events >= MAX_STEPS) {
                state = self.drive(state);
            } else if let Some(poll) = state.next() {
                let nth = self.begin(&mut state);
                drop(state);
                let Some(after) = self.run(nth, poll) else { return };
                state = after;
            } else {
                state.n_waiting += 1;
                while state.n_called == 0 {
                    state = self.called.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                state.n_called -= 1;
            }
        }
    }

    /// Waits until a connection is ready, or only looks for events of sockets if one is.
    fn drive<'a>(&'a self, mut state: MutexGuard<'a, TurnState>) -> MutexGuard<'a, TurnState> {
        state.is_driven = true;
        state.n_since_events = 0;
        let is_ready = state.is_ready();
        drop(state);
        self.sockets.block_on(async {
            if is_ready {
                return tokio::task::yield_now().await;
            }
            poll_fn(|cx| {
                let mut state = self.state.lock();
                if state.is_ready() {
                    return Poll::Ready(());
                }
                state.driver = Some(cx.waker().clone());
                Poll::Pending
            })
            .await;
        });
        let mut state = self.state.lock();
        state.is_driven = false;
        state.driver = None;
        state
    }

    /// Begins a step, and lets other threads poll the connections that are ready beside it.
    fn begin(&'static self, state: &mut TurnState) -> u64 {
        state.n_steps += 1;
        state.n_since_events += 1;
        let (nth, tick) = (state.n_steps, state.n_ticks);
        state.steps.push(Step { nth, tool: None, connection: None, tick });
        if !state.is_watched {
            state.is_watched = thread().spawn(|| self.watch()).is_ok();
        } else if std::mem::take(&mut state.is_watcher_asleep) {
            self.begun.notify_one();
        }
        if state.is_ready() && state.n_threads - state.n_waiting < n_cores() {
            self.call(state);
        }
        nth
    }

    /// Polls a connection, runs the tool of the call that it has begun, and polls it again. Returns `None` if other threads
    /// have taken over and this one is not needed any more.
    fn run(&'static self, nth: u64, mut poll: ConnectionPoll) -> Option<MutexGuard<'static, TurnState>> {
        for n_calls in 0.. {
            ON.set(On::Connection(nth));
            let mut polls = ToolPolls::collect(|| poll_within(poll));
            ON.set(On::Other);
            let mut state = self.state.lock();
            let tool = polls.next();
            let Some(tool) = tool.and_then(|tool| state.prompt(nth, tool)) else { return self.end(state, nth) };
            drop(state);
            // Others would wait for this one.
            drop(polls);
            ON.set(On::Tool(nth));
            tool.run();
            ON.set(On::Other);
            let mut state = self.state.lock();
            match state.connection(nth) {
                Some(connection) if n_calls < MAX_CALLS => poll = connection,
                connection => {
                    state.ready.extend(connection);
                    return self.end(state, nth);
                }
            }
        }
        None
    }

    /// Ends a step.
    fn end<'a>(&'a self, mut state: MutexGuard<'a, TurnState>, nth: u64) -> Option<MutexGuard<'a, TurnState>> {
        if let Some(position) = state.steps.iter().position(|step| step.nth == nth) {
            let step = state.steps.swap_remove(position);
            state.ready.extend(step.connection);
            return Some(state);
        }
        if state.n_waiting >= n_cores() {
            return None;
        }
        state.n_threads += 1;
        Some(state)
    }

    /// Lets other threads take over from those whose steps have stalled.
    fn watch(&'static self) {
        let mut state = self.state.lock();
        loop {
            let n_seen = state.n_steps;
            state = self.begun.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            state.remove_stalled();
            if state.is_ready() {
                state.driver.take().into_iter().for_each(Waker::wake);
            }
            if state.n_threads == state.n_waiting && (state.is_ready() || !state.is_driven) {
                self.call(&mut state);
            } else if state.n_steps == n_seen && state.steps.is_empty() {
                state.is_watcher_asleep = true;
                while state.is_watcher_asleep {
                    state = self.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }
}

impl TurnState {
    fn is_ready(&self) -> bool {
        !self.ready.is_empty() || !self.answered.is_empty()
    }

    fn next(&mut self) -> Option<ConnectionPoll> {
        // A client that sends calls without end must not keep the others waiting.
        match self.n_steps % 16 {
            0 => self.ready.pop_front().or_else(|| self.answered.pop_front()),
            _ => self.answered.pop_front().or_else(|| self.ready.pop_front()),
        }
    }

    /// Removes the steps that have taken longer than a tick. Their threads no longer count.
    fn remove_stalled(&mut self) {
        self.n_ticks += 1;
        let Self { steps, answered, n_threads, n_ticks, .. } = self;
        for step in steps.extract_if(.., |step| step.tick + 1 < *n_ticks) {
            *n_threads -= 1;
            step.tool.into_iter().for_each(record_stall);
            answered.extend(step.connection);
        }
    }

    fn step(&mut self, nth: u64) -> Option<&mut Step> {
        self.steps.iter_mut().find(|step| step.nth == nth)
    }

    /// Begins the poll of a tool, if the thread of this step runs it.
    fn prompt(&mut self, nth: u64, tool: ToolPoll) -> Option<ToolPoll> {
        let (tick, is_watched) = (self.n_ticks, self.is_watched);
        match self.step(nth) {
            Some(step) if is_watched => {
                (step.tool, step.tick) = (Some(tool.tool()), tick);
                Some(tool)
            }
            _ => {
                tool.hand_over();
                None
            }
        }
    }

    /// Ends the poll of a tool. Returns the connection if its thread polls it again.
    fn connection(&mut self, nth: u64) -> Option<ConnectionPoll> {
        let tick = self.n_ticks;
        let step = self.step(nth)?;
        step.tick = tick;
        step.tool = None;
        step.connection.take()
    }
}

fn poll_within(poll: ConnectionPoll) {
    let runtime = poll.metadata().clone();
    let _within = runtime.enter();
    if catch_unwind(AssertUnwindSafe(|| poll.run())).is_err() {
        tracing::error!("a connection has panicked");
    }
}

fn thread() -> Builder {
    Builder::new().name("toolkit http".to_owned())
}
