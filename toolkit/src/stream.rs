//! Calls as streams of events: progress, parts of the result, and the outcome.
//!
//! [`Dispatcher::stream`](crate::Dispatcher::stream) starts such a call. Every tool reports progress and an outcome; a
//! tool that returns [`Chunks`] also sends its items one by one.
//!
//! ```standalone_crate
//! use toolkit::stream::{Chunks, Event};
//! use toolkit::{Catalog, Dispatcher, tool};
//!
//! /// Counts down.
//! #[tool]
//! fn countdown(from: u8) -> Chunks<u8> {
//!     Chunks::from_items((1..=from).rev())
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
//! let dispatcher = Dispatcher::new(Catalog::linked()?)?;
//! let mut events = dispatcher.stream("countdown", r#"{"from": 3}"#);
//! let mut seen = Vec::new();
//! while let Some(event) = events.next().await {
//!     match event.event {
//!         Event::Chunk(item) => seen.push(item.value()),
//!         Event::Done(result) => assert_eq!(result.json(), Some(&b"[3,2,1]"[..])),
//!         other => panic!("{other:?}"),
//!     }
//! }
//! assert_eq!(seen, [3, 2, 1]);
//! # Ok(()) })
//! # }
//! ```
//!
//! The tool runs only while the stream is polled, and at most a few items ahead: a slow consumer slows the tool down,
//! and dropping the stream cancels the call. A newer progress report replaces one that is not consumed yet.
//!
//! | module | part |
//! |---|---|
//! | `event` | the events, and the queue between the code of a call and the consumer |
//! | `chunks` | the return type of a streaming tool, and the side that sends items |

mod chunks;
mod event;

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as TaskContext, Poll};

use futures_core::Stream;
use futures_core::stream::FusedStream;

pub use self::chunks::{Chunks, Emitter};
pub use self::event::{Chunk, Event, StreamEvent};
pub(crate) use self::event::{Queue, Wakers, reporting_to};
use crate::call::{BoxFuture, RunResult, ToolError};
use crate::tool::Text;

/// The events of a call, started by [`Dispatcher::stream`](crate::Dispatcher::stream).
///
/// The last event is exactly one [`Event::Done`] or [`Event::Error`].
///
/// # Examples
///
/// ```
/// use toolkit::{Context, Dispatcher, catalog, tool};
///
/// /// Copies files.
/// #[tool]
/// fn copy(files: Vec<String>, ctx: &Context) -> usize {
///     ctx.progress(0.0, files.len() as f64, "copying");
///     files.len()
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![copy]?)?;
/// let mut events = dispatcher.stream("copy", r#"{"files": ["a", "b"]}"#);
/// let mut kinds = Vec::new();
/// while let Some(event) = events.next().await {
///     kinds.push(event.event.kind());
/// }
/// assert_eq!(kinds, ["progress", "done"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "a call runs while its events are waited for"]
pub struct CallStream {
    tool_id: Text,
    queue: Arc<Queue>,
    /// `None` after the call has ended.
    call: Option<BoxFuture<'static, Result<RunResult, ToolError>>>,
    end: Option<Event>,
}

impl CallStream {
    pub(crate) fn new(
        tool_id: Text,
        queue: Arc<Queue>,
        call: BoxFuture<'static, Result<RunResult, ToolError>>,
    ) -> Self {
        Self { tool_id, queue, call: Some(call), end: None }
    }

    /// Creates the stream of a call that failed before it began.
    pub(crate) fn refused(tool_id: Text, error: ToolError) -> Self {
        Self { tool_id, queue: Arc::default(), call: None, end: Some(Event::Error(error)) }
    }

    /// Returns the next event, or `None` after the last.
    pub async fn next(&mut self) -> Option<StreamEvent> {
        poll_fn(|cx| Pin::new(&mut *self).poll_next(cx)).await
    }

    fn poll_event(&mut self, cx: &mut TaskContext<'_>) -> Poll<Option<Event>> {
        if let Some(event) = self.queue.pop() {
            return Poll::Ready(Some(event));
        }
        if let Some(call) = &mut self.call {
            self.queue.wake_reader_by(cx.waker());
            if let Poll::Ready(outcome) = call.as_mut().poll(cx) {
                self.call = None;
                self.queue.close();
                self.end = Some(outcome.map_or_else(Event::Error, Event::Done));
            }
            match self.queue.pop() {
                Some(event) => return Poll::Ready(Some(event)),
                None if self.call.is_some() => return Poll::Pending,
                None => {}
            }
        }
        Poll::Ready(self.end.take())
    }
}

impl Stream for CallStream {
    type Item = StreamEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<Option<StreamEvent>> {
        let event = self.poll_event(cx);
        event.map(|event| event.map(|event| StreamEvent { tool_id: self.tool_id.clone(), event }))
    }
}

impl FusedStream for CallStream {
    fn is_terminated(&self) -> bool {
        self.call.is_none() && self.end.is_none() && self.queue.is_empty()
    }
}

impl Drop for CallStream {
    fn drop(&mut self) {
        self.queue.close();
    }
}

crate::debug_fields!(it, CallStream { tool_id, has_ended: it.is_terminated() });
