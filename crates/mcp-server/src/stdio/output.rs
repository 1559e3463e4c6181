//! The messages that wait to be written, and their pipe.
//!
//! The thread that reads also writes the messages that it has produced, with one system call for all of them. A thread of
//! its own writes all others, so that their senders never wait for the pipe.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit};
use toolkit_runtime::Mutex;

use crate::reply::MessageSink;

/// The memory of a request, which is released once its response is written.
pub(super) enum HeldMemory {
    Whole(OwnedSemaphorePermit),
    /// That of a request with several messages, which is released once all of them are written.
    Shared(Arc<OwnedSemaphorePermit>),
}

impl HeldMemory {
    pub(super) fn shared(self) -> Arc<OwnedSemaphorePermit> {
        match self {
            Self::Whole(permit) => Arc::new(permit),
            Self::Shared(permit) => permit,
        }
    }
}

/// The number of unwritten messages, and their size in bytes, beyond which senders wait.
const MAX_UNWRITTEN: usize = 64;
const MAX_UNWRITTEN_BYTES: usize = 16 << 20;

/// The capacity that an empty buffer keeps.
const MAX_CAPACITY: usize = 1 << 20;

/// The output of a server.
pub(super) struct PipeOutput {
    state: Mutex<OutputState>,
    /// Locked while a thread writes, and `None` once the output has ended.
    pipe: Mutex<Option<Pipe>>,
    /// Wakes the thread that writes.
    work: Condvar,
    /// Wakes senders when there is room.
    room: Notify,
}

struct Pipe {
    to: Box<dyn Write + Send>,
    /// An empty buffer.
    lines: Lines,
}

#[derive(Default)]
struct OutputState {
    unwritten: Lines,
    /// True if the thread that reads is about to write.
    is_held: bool,
    is_closed: bool,
    /// The reason why the pipe cannot be written.
    error: Option<io::Error>,
}

/// Messages, one per line.
#[derive(Default)]
struct Lines {
    bytes: Vec<u8>,
    n_lines: usize,
    held: Vec<HeldMemory>,
}

/// The output cannot be written any more.
pub(super) struct Closed;

impl PipeOutput {
    pub(super) fn new(to: impl Write + Send + 'static) -> Arc<Self> {
        let pipe = Pipe { to: Box::new(to), lines: Lines::default() };
        let (state, pipe) = (Mutex::default(), Mutex::new(Some(pipe)));
        Arc::new(Self { state, pipe, work: Condvar::new(), room: Notify::new() })
    }

    /// Sends a message. Waits while there are too many.
    pub(super) async fn send(&self, bytes: &[u8], held: Option<HeldMemory>) -> Result<(), Closed> {
        loop {
            let room = self.room.notified();
            {
                let mut state = self.state.lock();
                if state.is_closed {
                    return Err(Closed);
                }
                if !state.unwritten.is_full() {
                    self.add(state, bytes, held);
                    return Ok(());
                }
                // The thread that reads may be the one that waits.
                state.is_held = false;
            }
            self.work.notify_one();
            room.await;
        }
    }

    /// Returns true if senders wait.
    pub(super) fn is_full(&self) -> bool {
        self.state.lock().unwritten.is_full()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().is_closed
    }

    /// Drops further messages. Those that were sent are written.
    pub(super) fn close(&self) {
        {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.is_held = false;
        }
        self.work.notify_one();
        self.room.notify_waiters();
    }

    /// Lets messages wait for [`flush`](Self::flush) or [`release`](Self::release).
    pub(super) fn hold(&self) {
        let mut state = self.state.lock();
        state.is_held = !state.is_closed;
    }

    /// Lets the thread that writes take the messages.
    pub(super) fn release(&self) {
        let has_lines = {
            let mut state = self.state.lock();
            state.is_held = false;
            state.unwritten.n_lines > 0
        };
        if has_lines {
            self.work.notify_one();
        }
    }

    /// Writes all messages on this thread, unless another one is writing.
    pub(super) fn flush(&self) {
        match self.pipe.try_lock() {
            Some(pipe) => self.write(pipe),
            None => self.release(),
        }
    }

    /// Writes what no other thread is about to write, until the output is closed or the pipe cannot be written.
    pub(super) fn run(&self) -> io::Result<()> {
        while self.has_work() {
            self.write(self.pipe.lock());
        }
        drop(self.pipe.lock().take());
        self.state.lock().error.take().map_or(Ok(()), Err)
    }

    /// Waits for messages. Returns false once the output is closed.
    fn has_work(&self) -> bool {
        let mut state = self.state.lock();
        loop {
            if state.unwritten.n_lines > 0 && !state.is_held {
                return true;
            }
            if state.is_closed {
                return false;
            }
            state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn write(&self, mut pipe: MutexGuard<'_, Option<Pipe>>) {
        let Some(Pipe { to, lines }) = &mut *pipe else { return };
        {
            let mut state = self.state.lock();
            state.is_held = false;
            std::mem::swap(lines, &mut state.unwritten);
        }
        if lines.n_lines == 0 {
            return;
        }
        if lines.is_full() {
            self.room.notify_waiters();
        }
        let written = to.write_all(&lines.bytes).and_then(|()| to.flush());
        lines.clear();
        if let Err(error) = written {
            {
                let mut state = self.state.lock();
                state.unwritten.clear();
                state.error = Some(error);
            }
            self.close();
        }
    }

    fn add(&self, mut state: MutexGuard<'_, OutputState>, message: &[u8], held: Option<HeldMemory>) {
        let is_first = state.unwritten.n_lines == 0;
        state.unwritten.add(message, held);
        let is_held = state.is_held;
        drop(state);
        if is_first && !is_held {
            self.work.notify_one();
        }
    }
}

impl MessageSink for Arc<PipeOutput> {
    async fn send(&mut self, message: Vec<u8>) {
        let _ = PipeOutput::send(self, &message, None).await;
    }
}

impl Lines {
    fn add(&mut self, message: &[u8], held: Option<HeldMemory>) {
        self.bytes.reserve(message.len() + 1);
        self.bytes.extend_from_slice(message);
        self.bytes.push(b'\n');
        self.n_lines += 1;
        self.held.extend(held);
    }

    fn is_full(&self) -> bool {
        self.n_lines >= MAX_UNWRITTEN || self.bytes.len() >= MAX_UNWRITTEN_BYTES
    }

    /// Releases the memory of the requests.
    fn clear(&mut self) {
        self.bytes.clear();
        self.bytes.shrink_to(MAX_CAPACITY);
        self.held.clear();
        self.n_lines = 0;
    }
}
