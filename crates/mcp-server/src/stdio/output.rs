//! The messages that wait to be written, and the thread that writes all of them at once.

use std::io::{self, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, OwnedSemaphorePermit};

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

/// The number of unwritten messages beyond which senders wait.
const MAX_UNWRITTEN: usize = 64;

/// The capacity that an empty buffer keeps.
const MAX_CAPACITY: usize = 1 << 20;

/// The output of a server.
pub(super) struct Output {
    state: Mutex<State>,
    /// Wakes the thread that writes.
    work: Condvar,
    /// Wakes senders when there is room.
    room: Notify,
}

#[derive(Default)]
struct State {
    unwritten: Lines,
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

impl Output {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self { state: Mutex::default(), work: Condvar::new(), room: Notify::new() })
    }

    /// Sends a message. Waits while there are too many.
    pub(super) async fn send(&self, bytes: &[u8], held: Option<Held>) -> Result<(), Closed> {
        loop {
            let mut room = std::pin::pin!(self.room.notified());
            room.as_mut().enable();
            {
                let state = self.state();
                if state.is_closed {
                    return Err(Closed);
                }
                if state.unwritten.n_lines < MAX_UNWRITTEN {
                    self.add(state, bytes, held);
                    return Ok(());
                }
            }
            room.await;
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.state().is_closed
    }

    /// Drops further messages. Those that were sent are written.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.work.notify_one();
        self.room.notify_waiters();
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
        while state.unwritten.n_lines == 0 {
            if state.is_closed {
                return false;
            }
            drop(self.work.wait(state).unwrap_or_else(PoisonError::into_inner));
            // The thread that has woken this one mostly sends more.
            std::thread::yield_now();
            state = self.state();
        }
        std::mem::swap(lines, &mut state.unwritten);
        drop(state);
        if lines.n_lines >= MAX_UNWRITTEN {
            self.room.notify_waiters();
        }
        true
    }

    fn add(&self, mut state: MutexGuard<'_, State>, message: &[u8], held: Option<Held>) {
        let was_empty = state.unwritten.n_lines == 0;
        state.unwritten.add(message, held);
        drop(state);
        if was_empty {
            self.work.notify_one();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
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
