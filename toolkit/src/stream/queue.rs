//! The bounded queue between the code that runs a call and the consumer of its events.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::event::{Chunk, Event};
use crate::call::{Context, Progress};

/// The maximum number of chunks in the queue. Between two chunks there is at most one progress report.
const MAX_CHUNKS: usize = 16;

/// The events that are not consumed yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    events: VecDeque<Event>,
    n_chunks: usize,
    is_closed: bool,
    reader: Option<Waker>,
    writers: Wakers,
}

impl Queue {
    /// Removes the oldest event.
    pub(super) fn pop(&self) -> Option<Event> {
        let mut state = self.state();
        let event = state.events.pop_front()?;
        if let Event::Chunk(_) = event {
            state.n_chunks -= 1;
            let writers = state.writers.take();
            drop(state);
            writers.wake();
        }
        Some(event)
    }

    /// Sets the waker for the next event.
    pub(super) fn wake_reader_by(&self, waker: &Waker) {
        match &mut self.state().reader {
            Some(reader) => reader.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Rejects further events.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        let writers = state.writers.take();
        drop(state);
        writers.wake();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.state().events.is_empty()
    }

    /// Adds a progress report. Replaces the last event if it is a progress report, too.
    pub(crate) fn report(&self, progress: Progress) {
        let mut state = self.state();
        if state.is_closed {
            return;
        }
        match state.events.back_mut() {
            Some(Event::Progress(last)) => *last = progress,
            _ => state.events.push_back(Event::Progress(progress)),
        }
        Self::wake(state);
    }

    /// Adds a chunk, waiting while the queue is full. Drops the chunk if the queue is closed.
    pub(crate) fn send(&self, chunk: Chunk) -> impl Future<Output = ()> + Send + '_ {
        let (mut chunk, mut key) = (Some(chunk), None);
        poll_fn(move |cx| {
            let mut state = self.state();
            if state.n_chunks >= MAX_CHUNKS && !state.is_closed {
                let former = state.writers.keep(&mut key, cx.waker());
                drop(state);
                drop(former);
                return Poll::Pending;
            }
            state.writers.forget(key);
            if let (Some(chunk), false) = (chunk.take(), state.is_closed) {
                state.events.push_back(Event::Chunk(chunk));
                state.n_chunks += 1;
                Self::wake(state);
            }
            Poll::Ready(())
        })
    }

    fn wake(mut state: MutexGuard<'_, State>) {
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Adds a queue as a progress listener of the context.
pub(crate) fn reporting_to(context: Context, queue: Arc<Queue>) -> Context {
    context.also_on_progress(move |progress| queue.report(progress))
}

/// The wakers of waiting tasks, one for each task even if it is polled repeatedly.
#[derive(Debug, Default)]
pub(crate) struct Wakers {
    waiting: BTreeMap<u64, Waker>,
    n_keys: u64,
}

impl Wakers {
    /// Stores the waker of a task, and returns its earlier one, which is dropped after unlocking: that may drop a whole
    /// task. The task stores the key.
    #[must_use]
    pub(crate) fn keep(&mut self, key: &mut Option<u64>, waker: &Waker) -> Option<Waker> {
        let key = *key.get_or_insert_with(|| {
            self.n_keys += 1;
            self.n_keys
        });
        self.waiting.insert(key, waker.clone())
    }

    /// Removes a task that no longer waits.
    pub(crate) fn forget(&mut self, key: Option<u64>) -> Option<Waker> {
        self.waiting.remove(&key?)
    }

    /// Removes all wakers. Call [`Woken::wake`] after unlocking.
    #[must_use]
    pub(crate) fn take(&mut self) -> Woken {
        Woken(std::mem::take(&mut self.waiting))
    }
}

/// Wakers that are about to be woken.
pub(crate) struct Woken(BTreeMap<u64, Waker>);

impl Woken {
    pub(crate) fn wake(self) {
        self.0.into_values().for_each(Waker::wake);
    }
}
