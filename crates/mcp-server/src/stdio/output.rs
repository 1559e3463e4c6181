//! The messages that wait to be written, and the thread that writes them.
//!
//! Waking a thread takes longer than most calls. A thread of the tool pool therefore wakes the one that writes only when
//! it has no more calls to run, and all responses are written at once. It does not write itself, since a client that does
//! not read would block it.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use toolkit_runtime::{is_tool_thread, wake_when_idle};

use crate::call::{CallResponse, Respond};

/// The memory of a request, which is released once its response is written.
pub(super) enum Held {
    Whole(OwnedSemaphorePermit),
    /// That of a request with several messages, which is released once all of them are written.
    Shared(Arc<OwnedSemaphorePermit>),
}

impl Held {
    pub(super) fn shared(self) -> Arc<OwnedSemaphorePermit> {
        match self {
            Self::Whole(permit) => Arc::new(permit),
            Self::Shared(permit) => permit,
        }
    }
}

/// The number of unwritten messages beyond which senders of messages that are not responses of calls wait.
const MAX_UNWRITTEN: usize = 64;

/// The capacity that an empty buffer keeps.
const MAX_CAPACITY: usize = 1 << 20;

/// The output of a server.
pub(super) struct Output {
    state: Mutex<State>,
    /// Wakes the thread that writes.
    work: Condvar,
    /// Wakes the reader when there is room.
    room: Condvar,
    /// Wakes tasks when there is room.
    room_for_tasks: Notify,
}

#[derive(Default)]
struct State {
    unwritten: Lines,
    /// True if a thread of the tool pool requests a write soon.
    is_due: bool,
    /// True if the thread of the output has to write.
    is_wanted: bool,
    is_closed: bool,
}

/// Messages, one per line.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    n_lines: usize,
    held: Vec<Held>,
}

/// The output cannot be written any more.
pub(super) struct Closed;

/// Sends the response of a call.
pub(super) struct Responder {
    pub(super) output: Arc<Output>,
    pub(super) held: Held,
}

impl Respond for Responder {
    fn respond(self, response: CallResponse) {
        if let Some(answer) = response.into_answer() {
            self.output.respond(&answer, self.held);
        }
    }
}

impl Output {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(State::default()),
            work: Condvar::new(),
            room: Condvar::new(),
            room_for_tasks: Notify::new(),
        })
    }

    /// Sends the response of a call without waiting. The memory of its request bounds the number of responses.
    pub(super) fn respond(self: &Arc<Self>, bytes: &[u8], held: Held) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        state.unwritten.add(bytes, Some(held));
        if !is_tool_thread() {
            self.request_write(state);
        } else if !std::mem::replace(&mut state.is_due, true) {
            drop(state);
            wake_when_idle(Arc::clone(self).into());
        }
    }

    /// Sends a message from a task. Waits while there are too many.
    pub(super) async fn send(&self, bytes: &[u8], held: Option<Held>) -> Result<(), Closed> {
        loop {
            let mut room = std::pin::pin!(self.room_for_tasks.notified());
            room.as_mut().enable();
            {
                let mut state = self.state();
                if state.is_closed {
                    return Err(Closed);
                }
                if state.unwritten.n_lines < MAX_UNWRITTEN {
                    state.unwritten.add(bytes, held);
                    self.request_write(state);
                    return Ok(());
                }
            }
            room.await;
        }
    }

    /// Sends a message from the reader. Blocks while there are too many.
    pub(super) fn send_blocking(&self, bytes: &[u8], held: Option<Held>) {
        let mut state = self.state();
        while !state.is_closed && state.unwritten.n_lines >= MAX_UNWRITTEN {
            state = self.room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if !state.is_closed {
            state.unwritten.add(bytes, held);
            self.request_write(state);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Drops further messages. Those that were sent are written.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.work.notify_one();
        self.room.notify_all();
        self.room_for_tasks.notify_waiters();
    }

    /// Writes until the output is closed, or `pipe` cannot be written.
    pub(super) fn run(&self, mut pipe: impl Write) -> io::Result<()> {
        let mut lines = Lines::default();
        while self.take(&mut lines) {
            let written = pipe.write_all(&lines.bytes).and_then(|()| pipe.flush());
            lines.clear();
            if let Err(error) = written {
                self.close();
                self.state().unwritten.clear();
                return Err(error);
            }
        }
        Ok(())
    }

    /// Waits for messages and moves them into an empty buffer. Returns false once the output is closed.
    fn take(&self, lines: &mut Lines) -> bool {
        let mut state = self.state();
        while state.unwritten.n_lines == 0 || !(state.is_wanted || state.is_closed) {
            if state.is_closed {
                return false;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.is_due = false;
        state.is_wanted = false;
        std::mem::swap(lines, &mut state.unwritten);
        drop(state);
        if lines.n_lines >= MAX_UNWRITTEN {
            self.room.notify_all();
            self.room_for_tasks.notify_waiters();
        }
        true
    }

    fn request_write(&self, mut state: MutexGuard<'_, State>) {
        let was_wanted = std::mem::replace(&mut state.is_wanted, true);
        drop(state);
        if !was_wanted {
            self.work.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Output {
    fn wake(self: Arc<Self>) {
        self.request_write(self.state());
    }
}

impl Lines {
    fn add(&mut self, message: &[u8], held: Option<Held>) {
        self.bytes.reserve(message.len() + 1);
        self.bytes.extend_from_slice(message);
        self.bytes.push(b'\n');
        self.n_lines += 1;
        self.held.extend(held);
    }

    /// Releases the memory of the requests.
    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(MAX_CAPACITY);
        self.held.clear();
        self.n_lines = 0;
    }
}
