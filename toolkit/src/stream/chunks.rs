//! Results in parts, and the side that sends them.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use super::event::Wakers;
use crate::call::{BoxFuture, ErrorKind, ToolError};

/// A result in parts: a stream of items.
///
/// The output schema is a list of `T`. A plain call returns the whole list; a streamed call sends each item as a chunk
/// when it is available. Every item is validated before it is sent, and an error ends the stream.
///
/// ```
/// # use toolkit::{ToolError, tool};
/// # use toolkit::stream::Chunks;
/// /// Reads the lines of a text, slowly.
/// #[tool]
/// fn read_lines(text: String) -> Chunks<String> {
///     Chunks::emit(async move |lines| {
///         for line in text.lines() {
///             lines.send(line.to_owned()).await?;
///         }
///         Ok(())
///     })
/// }
/// ```
#[must_use]
pub struct Chunks<T> {
    items: Pin<Box<dyn Stream<Item = Result<T, ToolError>> + Send>>,
}

impl<T: Send + 'static> Chunks<T> {
    /// Creates a result from a stream.
    pub fn new(stream: impl Stream<Item = Result<T, ToolError>> + Send + 'static) -> Self {
        Self { items: Box::pin(stream) }
    }

    /// Creates a result from items that are available without waiting.
    pub fn from_items<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self::new(Ready(items.into_iter()))
    }

    /// Creates a result from the items that `body` and its emitters send, also from other tasks and threads. An error
    /// of `body` ends the stream.
    pub fn emit<F, R>(body: F) -> Self
    where
        F: FnOnce(Emitter<T>) -> R,
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        Self::new(Emitted::by(body))
    }

    /// Returns the next item, or `None` after the last.
    ///
    /// # Errors
    ///
    /// Returns the error of the tool, after which there are no items.
    ///
    /// # Examples
    ///
    /// A test of a streaming tool as the function that it is:
    ///
    /// ```
    /// use toolkit::stream::Chunks;
    /// use toolkit::tool;
    ///
    /// /// Splits a text into words.
    /// #[tool]
    /// fn words(text: String) -> Chunks<String> {
    ///     Chunks::from_items(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut words = words("one two".to_owned());
    /// assert_eq!(words.next().await.transpose()?.as_deref(), Some("one"));
    /// assert_eq!(words.next().await.transpose()?.as_deref(), Some("two"));
    /// assert!(words.next().await.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn next(&mut self) -> Option<Result<T, ToolError>> {
        poll_fn(|cx| self.items.as_mut().poll_next(cx)).await
    }
}

impl<T> Stream for Chunks<T> {
    type Item = Result<T, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.items.as_mut().poll_next(cx)
    }
}

impl<T> fmt::Debug for Chunks<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}

/// A stream over an iterator.
struct Ready<I>(I);

impl<I> Unpin for Ready<I> {}

impl<I: Iterator> Stream for Ready<I> {
    type Item = Result<I::Item, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}

/// A sender of the items of [`Chunks::emit`], usable from any task and thread.
///
/// Clones send to the same stream. The stream ends when the function has returned and all emitters are dropped.
///
/// # Examples
///
/// ```
/// use toolkit::stream::Chunks;
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut squares = Chunks::emit(async move |squares| {
///     for n in 1_u32..=3 {
///         squares.send(n * n).await?;
///     }
///     Ok(())
/// });
/// let mut seen = Vec::new();
/// while let Some(square) = squares.next().await {
///     seen.push(square?);
/// }
/// assert_eq!(seen, [1, 4, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Emitter<T> {
    slot: Arc<ItemSlot<T>>,
}

/// A slot for one item, so that senders are at most one item ahead.
struct ItemSlot<T>(Mutex<SlotState<T>>);

struct SlotState<T> {
    item: Option<T>,
    /// The number of items that have been in the slot.
    n_sent: u64,
    n_emitters: usize,
    /// True once the receiver accepts no more items.
    is_closed: bool,
    reader: Option<Waker>,
    senders: Wakers,
}

impl<T: Send> Emitter<T> {
    /// Sends an item and waits until it is received.
    ///
    /// # Errors
    ///
    /// Returns an error if the stream was dropped or has ended with an error, also while waiting. The item is lost.
    ///
    /// ```
    /// # use toolkit::{Chunks, tool};
    /// /// Counts up, on a task of its own.
    /// #[tool]
    /// fn count_up(to: u64) -> Chunks<u64> {
    ///     Chunks::emit(async move |numbers| {
    ///         tokio::spawn(async move {
    ///             for number in 0..to {
    ///                 if numbers.send(number).await.is_err() {
    ///                     break;
    ///                 }
    ///             }
    ///         });
    ///         Ok(())
    ///     })
    /// }
    /// ```
    pub fn send(&self, item: T) -> impl Future<Output = Result<(), ToolError>> + Send + '_ {
        Sending { slot: &self.slot, item: Some(item), place: 0, key: None }
    }
}

impl<T> Clone for Emitter<T> {
    fn clone(&self) -> Self {
        self.slot.lock().n_emitters += 1;
        Self { slot: Arc::clone(&self.slot) }
    }
}

impl<T> Drop for Emitter<T> {
    fn drop(&mut self) {
        let mut state = self.slot.lock();
        state.n_emitters -= 1;
        if state.n_emitters == 0 {
            SlotState::wake_reader(state);
        }
    }
}

impl<T> fmt::Debug for Emitter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Emitter")
    }
}

/// An item that is being sent.
struct Sending<'a, T> {
    slot: &'a ItemSlot<T>,
    /// `None` once the item is in the slot.
    item: Option<T>,
    /// The number of the item, once it is in the slot.
    place: u64,
    key: Option<u64>,
}

// The item is moved and never pinned.
impl<T> Unpin for Sending<'_, T> {}

impl<T> Future for Sending<'_, T> {
    type Output = Result<(), ToolError>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut state = self.slot.lock();
        if self.place > 0 && state.n_taken() >= self.place {
            return Poll::Ready(Ok(()));
        }
        if state.is_closed {
            return Poll::Ready(Err(ToolError::new(ErrorKind::Cancelled, "the receiver of the items was dropped")));
        }
        let _former = state.senders.keep(&mut self.key, cx.waker());
        if state.item.is_none()
            && let Some(item) = self.item.take()
        {
            state.item = Some(item);
            state.n_sent += 1;
            self.place = state.n_sent;
            SlotState::wake_reader(state);
        }
        Poll::Pending
    }
}

impl<T> Drop for Sending<'_, T> {
    fn drop(&mut self) {
        let waker = self.slot.lock().senders.forget(self.key);
        drop(waker);
    }
}

impl<T> ItemSlot<T> {
    fn lock(&self) -> MutexGuard<'_, SlotState<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let (item, senders) = (state.item.take(), state.senders.take());
        // Dropped and woken after unlocking: both may run foreign code.
        drop(state);
        senders.wake();
        drop(item);
    }
}

impl<T> SlotState<T> {
    fn n_taken(&self) -> u64 {
        self.n_sent - u64::from(self.item.is_some())
    }

    fn wake_reader(mut state: MutexGuard<'_, Self>) {
        let reader = state.reader.take();
        drop(state);
        if let Some(reader) = reader {
            reader.wake();
        }
    }
}

/// The stream of items that a function and its emitters send.
struct Emitted<T> {
    slot: Arc<ItemSlot<T>>,
    /// `None` once the function has returned.
    body: Option<BoxFuture<'static, Result<(), ToolError>>>,
    failed: Option<ToolError>,
}

impl<T> Emitted<T> {
    fn by<R>(body: impl FnOnce(Emitter<T>) -> R) -> Self
    where
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        let state = SlotState {
            item: None,
            n_sent: 0,
            n_emitters: 1,
            is_closed: false,
            reader: None,
            senders: Wakers::default(),
        };
        let slot = Arc::new(ItemSlot(Mutex::new(state)));
        let body = body(Emitter { slot: Arc::clone(&slot) });
        Self { slot, body: Some(Box::pin(body)), failed: None }
    }
}

impl<T> Stream for Emitted<T> {
    type Item = Result<T, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(body) = &mut self.body
            && let Poll::Ready(outcome) = body.as_mut().poll(cx)
        {
            self.body = None;
            self.failed = outcome.err();
        }
        let mut state = self.slot.lock();
        if let Some(item) = state.item.take() {
            let senders = state.senders.take();
            drop(state);
            senders.wake();
            return Poll::Ready(Some(Ok(item)));
        }
        let may_send = self.failed.is_none() && !state.is_closed && state.n_emitters > 0;
        if self.body.is_some() || may_send {
            let replaced = state.reader.replace(cx.waker().clone());
            drop(state);
            drop(replaced);
            return Poll::Pending;
        }
        drop(state);
        self.slot.close();
        Poll::Ready(self.failed.take().map(Err))
    }
}

impl<T> Drop for Emitted<T> {
    fn drop(&mut self) {
        self.slot.close();
    }
}
