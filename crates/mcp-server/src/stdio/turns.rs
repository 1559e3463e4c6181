//! The threads that read in turns, and run the tools of the calls that they have read.
//!
//! A call that no thread has to be woken for takes two system calls. But a tool may block, and the client may not read: while
//! a thread runs tools or writes, another one watches, and takes over if that makes no progress.

use std::io;
use std::sync::{Arc, Condvar, PoisonError};
use std::thread::Builder;
use std::time::Duration;

use tokio::sync::oneshot;
use toolkit_runtime::{Mutex, ToolPoll, ToolPolls, record_stall};

use super::reader::{LineReader, PendingCalls, poll};

/// The interval at which the watching thread looks at the turn. A step that takes longer has stalled.
const TICK: Duration = Duration::from_millis(1);

/// The threads of a pipe.
pub(super) struct Turns {
    state: Mutex<TurnState>,
    /// Wakes the watching thread.
    begun: Condvar,
}

#[derive(Default)]
struct TurnState {
    /// `None` while a thread reads.
    turn: Option<Turn>,
    n_turns: u64,
    /// The number of steps of all turns. A turn that makes no progress does not change it.
    n_steps: u64,
    is_watcher_asleep: bool,
    has_ended: bool,
}

/// What the thread that runs tools would do next, and another one does if it takes over.
struct Turn {
    nth: u64,
    reading: Box<Reading>,
    calls: PendingCalls,
    polls: ToolPolls,
    /// The tool that runs.
    tool: Option<u64>,
}

struct Reading {
    reader: LineReader,
    ended: oneshot::Sender<io::Result<()>>,
    /// False if a thread that watches could not be started.
    is_watched: bool,
}

impl Turns {
    /// Starts to read. Sends the outcome at the end of the input.
    pub(super) fn start(reader: LineReader, ended: oneshot::Sender<io::Result<()>>) -> io::Result<()> {
        let turns = Arc::new(Self { state: Mutex::default(), begun: Condvar::new() });
        let reading = Box::new(Reading { reader, ended, is_watched: true });
        let reads = Arc::clone(&turns);
        thread().spawn(move || reads.read(reading))?;
        turns.start_watching()
    }

    fn start_watching(self: &Arc<Self>) -> io::Result<()> {
        let turns = Arc::clone(self);
        thread().spawn(move || turns.watch()).map(drop)
    }

    /// Reads and runs tools until the input ends, or another thread has taken over.
    fn read(&self, mut reading: Box<Reading>) {
        let runtime = reading.reader.runtime.clone();
        let _within = runtime.enter();
        loop {
            match reading.reader.read() {
                Ok(true) => {}
                outcome => {
                    reading.reader.output.release();
                    let _ = reading.ended.send(outcome.map(drop));
                    self.state.lock().has_ended = true;
                    return self.begun.notify_one();
                }
            }
            let Some(next) = self.run(reading) else { return };
            reading = next;
        }
    }

    /// Runs the tools of the calls that were read, and writes their responses. Returns `None` if another thread has taken over.
    fn run(&self, mut reading: Box<Reading>) -> Option<Box<Reading>> {
        let (calls, polls) = reading.reader.start_calls();
        if !reading.is_watched {
            reading.hand_over(calls, polls);
            return Some(reading);
        }
        let (output, answering) = (Arc::clone(&reading.reader.output), reading.reader.answering.clone());
        let nth = self.begin(reading, calls, polls);
        while let Some(poll) = self.next_poll(nth) {
            poll.run();
        }
        let mut calls = self.take_calls(nth)?;
        poll(&mut calls);
        if !calls.is_empty() {
            let _ = answering.send(calls);
        }
        output.flush();
        self.end(nth)
    }

    fn begin(&self, reading: Box<Reading>, calls: PendingCalls, polls: ToolPolls) -> u64 {
        let mut state = self.state.lock();
        state.n_steps += 1;
        state.n_turns += 1;
        let nth = state.n_turns;
        state.turn = Some(Turn { nth, reading, calls, polls, tool: None });
        if std::mem::take(&mut state.is_watcher_asleep) {
            self.begun.notify_one();
        }
        nth
    }

    /// Returns the next poll that this thread runs.
    fn next_poll(&self, nth: u64) -> Option<ToolPoll> {
        let mut state = self.state.lock();
        state.n_steps += 1;
        let turn = state.turn_of(nth)?;
        let poll = turn.polls.next();
        turn.tool = poll.as_ref().map(ToolPoll::tool);
        poll
    }

    fn take_calls(&self, nth: u64) -> Option<PendingCalls> {
        Some(std::mem::take(&mut self.state.lock().turn_of(nth)?.calls))
    }

    fn end(&self, nth: u64) -> Option<Box<Reading>> {
        let mut state = self.state.lock();
        state.turn_of(nth)?;
        state.turn.take().map(|turn| turn.reading)
    }

    /// Watches the turns, and takes over one that makes no progress.
    fn watch(self: Arc<Self>) {
        let Some(turn) = self.stalled() else { return };
        let Turn { mut reading, calls, polls, tool, .. } = turn;
        tool.into_iter().for_each(record_stall);
        reading.hand_over(calls, polls);
        reading.is_watched = self.start_watching().is_ok();
        self.read(reading);
    }

    /// Waits for a turn that makes no progress. Returns `None` at the end of the input.
    fn stalled(&self) -> Option<Turn> {
        let mut state = self.state.lock();
        while !state.has_ended {
            let n_seen = state.n_steps;
            state = self.begun.wait_timeout(state, TICK).unwrap_or_else(PoisonError::into_inner).0;
            if state.n_steps != n_seen {
                continue;
            }
            if state.turn.is_some() {
                return state.turn.take();
            }
            state.is_watcher_asleep = true;
            while state.is_watcher_asleep && !state.has_ended {
                state = self.begun.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
        None
    }
}

impl TurnState {
    /// Returns the turn, unless another thread has taken it over.
    fn turn_of(&mut self, nth: u64) -> Option<&mut Turn> {
        self.turn.as_mut().filter(|turn| turn.nth == nth)
    }
}

impl Reading {
    /// Lets others run the tools, wait for the calls, and write.
    fn hand_over(&self, calls: PendingCalls, polls: ToolPolls) {
        if !calls.is_empty() {
            let _ = self.reader.answering.send(calls);
        }
        drop(polls);
        self.reader.output.release();
    }
}

fn thread() -> Builder {
    Builder::new().name("mcp stdin".to_owned())
}
