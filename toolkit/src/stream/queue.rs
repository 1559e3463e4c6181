//! Between the code that runs a call and the one who reads its events: a queue that never grows beyond a few.

use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use super::event::{Chunk, Event};
use super::wakers::Wakers;
use crate::call::{Context, Progress};

/// How many chunks wait to be read, at most. Between two of them waits one report of progress, at most.
const MAX_CHUNKS: usize = 16;

/// Events that have happened and were not read yet.
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
    /// The event that happened first.
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

    /// Says whom to wake when something happens.
    pub(super) fn wake_reader_by(&self, waker: &Waker) {
        match &mut self.state().reader {
            Some(reader) => reader.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Takes no more events.
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

    /// Reports progress, in place of a report that stands last and was not read.
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

    /// Adds a chunk, once there is room; where nobody reads any more, it is dropped.
    pub(crate) fn send(&self, chunk: Chunk) -> impl Future<Output = ()> + Send + '_ {
        let (mut chunk, mut key) = (Some(chunk), None);
        poll_fn(move |cx| {
            let mut state = self.state();
            if state.n_chunks >= MAX_CHUNKS && !state.is_closed {
                state.writers.keep(&mut key, cx.waker());
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

/// Returns the context with a queue as a listener for progress.
pub(crate) fn reporting_to(context: Context, queue: Arc<Queue>) -> Context {
    context.also_on_progress(move |progress| queue.report(progress))
}
