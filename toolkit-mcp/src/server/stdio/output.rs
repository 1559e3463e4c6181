//! The messages that wait to be written, and the threads that write them.
//!
//! A thread of the tool pool writes the responses of its calls itself, all at once, when it has no more calls to run.
//! Waking another thread for that would take longer than most calls. All other messages, and those that such a thread
//! leaves behind because it runs a long call, are written by a separate thread.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::Wake;

use tokio::sync::{Notify, OwnedSemaphorePermit};
use toolkit_http::{is_tool_thread, wake_when_idle};

use crate::server::call::{CallResponse, Respond};

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

struct State {
    /// `None` while a thread writes.
    pipe: Option<Box<dyn Write + Send>>,
    unwritten: Lines,
    /// An empty buffer.
    spare: Lines,
    /// True if a thread of the tool pool writes soon.
    is_due: bool,
    /// True if the thread of the output has to write.
    is_wanted: bool,
    is_closed: bool,
    error: Option<io::Error>,
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
        // A canceled request must not be answered.
        if !response.is_cancelled {
            self.output.respond(&response.bytes, self.held);
        }
    }
}

impl Output {
    pub(super) fn new(pipe: impl Write + Send + 'static) -> Arc<Self> {
        let state = State {
            pipe: Some(Box::new(pipe)),
            unwritten: Lines::default(),
            spare: Lines::default(),
            is_due: false,
            is_wanted: false,
            is_closed: false,
            error: None,
        };
        Arc::new(Self {
            state: Mutex::new(state),
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

    /// Writes until the output is closed or cannot be written.
    pub(super) fn run(&self) -> io::Result<()> {
        let mut state = self.state();
        loop {
            if let Some(error) = state.error.take() {
                return Err(error);
            }
            let is_empty = state.unwritten.n_lines == 0;
            if state.pipe.is_some() && !is_empty && (state.is_wanted || state.is_closed) {
                state = self.write(state);
            } else if is_empty && state.is_closed && state.pipe.is_some() {
                return Ok(());
            } else {
                state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
        }
    }

    fn request_write(&self, mut state: MutexGuard<'_, State>) {
        let was_wanted = std::mem::replace(&mut state.is_wanted, true);
        drop(state);
        if !was_wanted {
            self.work.notify_one();
        }
    }

    /// Writes all messages at once, unless another thread is writing.
    fn write<'s>(&'s self, mut state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        let Some(mut pipe) = state.pipe.take() else { return state };
        state.is_due = false;
        state.is_wanted = false;
        let spare = std::mem::take(&mut state.spare);
        let mut lines = std::mem::replace(&mut state.unwritten, spare);
        let had_no_room = lines.n_lines >= MAX_UNWRITTEN;
        drop(state);
        if had_no_room {
            self.room.notify_all();
            self.room_for_tasks.notify_waiters();
        }
        let written = pipe.write_all(&lines.bytes).and_then(|()| pipe.flush());
        lines.clear();
        let mut state = self.state();
        state.pipe = Some(pipe);
        state.spare = lines;
        if let Err(error) = written {
            state.unwritten.clear();
            state.error = Some(error);
            state.is_closed = true;
            self.work.notify_one();
            self.room.notify_all();
            self.room_for_tasks.notify_waiters();
        } else if state.is_wanted || state.is_closed {
            self.work.notify_one();
        }
        state
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wake for Output {
    /// Writes the messages, or leaves it to the thread of the output if this thread must not block.
    fn wake(self: Arc<Self>) {
        let state = self.state();
        if state.unwritten.n_lines == 0 {
            return;
        }
        if !is_tool_thread() || state.pipe.is_none() {
            return self.request_write(state);
        }
        drop(self.write(state));
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
