//! Events of a call, and the bounded queue between the code that runs the call and the consumer of its events.

use std::collections::{BTreeMap, VecDeque};
use std::future::{Future, poll_fn};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::call::{Context, Progress, RunResult, ToolError};
use crate::tool::Text;

/// An event of a call, serialized as `{"kind", "toolId", "data"}`.
///
/// # Examples
///
/// A server forwards each event as JSON:
///
/// ```
/// use serde_json::json;
/// use toolkit::{Chunks, Dispatcher, catalog, tool};
///
/// /// Lists the letters of a word.
/// #[tool]
/// fn letters(word: String) -> Chunks<char> {
///     Chunks::from_items(word.chars().collect::<Vec<_>>())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![letters]?)?;
/// let mut events = dispatcher.stream("letters", r#"{"word": "ab"}"#);
/// let first = events.next().await.unwrap();
/// assert_eq!(serde_json::to_value(&first)?, json!({ "kind": "chunk", "toolId": "letters", "data": "a" }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct StreamEvent {
    /// The id of the tool, or the name of the call if no tool was found.
    pub tool_id: Text,
    /// The event.
    pub event: Event,
}

/// The kind of an event, with its data.
///
/// # Examples
///
/// An error is an event too, and ends the stream:
///
/// ```
/// use toolkit::call::ErrorKind;
/// use toolkit::stream::Event;
/// use toolkit::{Catalog, Dispatcher};
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(Catalog::new([])?)?;
/// let event = dispatcher.stream("fetch", "{}").next().await.unwrap().event;
/// assert!(event.is_end());
/// match event {
///     Event::Error(error) => assert_eq!(error.kind(), ErrorKind::UnknownTool),
///     Event::Progress(progress) => println!("{}: {}", progress.done, progress.message),
///     Event::Chunk(chunk) => println!("{}", chunk.json()),
///     Event::Done(result) => println!("{}", result.value()),
///     _ => {}
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum Event {
    /// A progress report.
    Progress(Progress),
    /// A part of the result: an item of the list that the tool returns.
    Chunk(Chunk),
    /// The call succeeded with this result. This is the last event.
    Done(RunResult),
    /// The call failed with this error. This is the last event.
    Error(ToolError),
}

/// A part of a result, as JSON text.
///
/// # Examples
///
/// ```
/// use toolkit::stream::{Chunks, Event};
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Reads the measurements of a sensor.
/// #[tool]
/// fn measure() -> Chunks<f64> {
///     Chunks::from_items([20.5, 21.0])
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![measure]?)?;
/// let mut events = dispatcher.stream("measure", "{}");
/// let Some(Event::Chunk(chunk)) = events.next().await.map(|event| event.event) else { panic!("no chunk") };
/// assert_eq!(chunk.json(), "20.5");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chunk(Box<RawValue>);

impl Event {
    /// Returns `progress`, `chunk`, `done` or `error`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Event::Progress(_) => "progress",
            Event::Chunk(_) => "chunk",
            Event::Done(_) => "done",
            Event::Error(_) => "error",
        }
    }

    /// Returns true if this is the last event of its call.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Event::Done(_) | Event::Error(_))
    }
}

impl Chunk {
    /// Creates a chunk from JSON text that a backend received.
    ///
    /// ```
    /// use toolkit::stream::Chunk;
    ///
    /// let chunk = Chunk::from_json("[1, 2]".to_owned())?;
    /// assert_eq!(chunk.value(), serde_json::json!([1, 2]));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not JSON.
    pub fn from_json(json: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(json).map(Self)
    }

    /// Returns the JSON text.
    #[must_use]
    pub fn json(&self) -> &str {
        self.0.get()
    }

    /// Returns the chunk as a value.
    #[must_use]
    pub fn value(&self) -> Value {
        serde_json::from_str(self.json()).unwrap_or_default()
    }
}

/// The data of the last event is the structured result, or the error message for the model.
impl Serialize for StreamEvent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("kind", self.event.kind())?;
        if !self.tool_id.is_empty() {
            map.serialize_entry("toolId", &self.tool_id)?;
        }
        match &self.event {
            Event::Progress(progress) => map.serialize_entry("data", progress)?,
            Event::Chunk(chunk) => map.serialize_entry("data", &chunk.0)?,
            Event::Done(result) => {
                let data: Option<&RawValue> = result.json().and_then(|json| serde_json::from_slice(json).ok());
                if let Some(data) = data {
                    map.serialize_entry("data", data)?;
                }
            }
            Event::Error(error) => map.serialize_entry("data", error.message())?,
        }
        map.end()
    }
}

/// The maximum number of chunks in the queue. Between two chunks there is at most one progress report.
const MAX_CHUNKS: usize = 16;

/// The events that are not consumed yet.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    state: Mutex<QueueState>,
}

#[derive(Debug, Default)]
struct QueueState {
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

    fn wake(mut state: MutexGuard<'_, QueueState>) {
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }

    fn state(&self) -> MutexGuard<'_, QueueState> {
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
