//! A stream that a function writes.

use std::fmt;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;

use crate::call::ToolError;
use crate::dispatch::BoxFuture;

/// Sends the items of [`Chunks::emit`](super::Chunks::emit).
pub struct Emitter<T> {
    slot: Arc<Mutex<Slot<T>>>,
}

/// Room for one item, so that the function runs no further ahead than that.
struct Slot<T> {
    item: Option<T>,
    senders: Vec<Waker>,
}

impl<T: Send> Emitter<T> {
    /// Sends an item, and waits until it was taken.
    pub fn send(&self, item: T) -> impl Future<Output = ()> + Send + '_ {
        let mut item = Some(item);
        poll_fn(move |cx| {
            let mut slot = self.slot();
            if slot.item.is_none() {
                match item.take() {
                    Some(item) => slot.item = Some(item),
                    None => return Poll::Ready(()),
                }
            }
            slot.senders.push(cx.waker().clone());
            Poll::Pending
        })
    }
}

impl<T> Emitter<T> {
    fn slot(&self) -> MutexGuard<'_, Slot<T>> {
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) -> Option<T> {
        let mut slot = self.slot();
        let item = slot.item.take()?;
        let senders = std::mem::take(&mut slot.senders);
        drop(slot);
        senders.into_iter().for_each(Waker::wake);
        Some(item)
    }
}

impl<T> fmt::Debug for Emitter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Emitter")
    }
}

/// The items that a function sends while it runs.
pub(super) struct Emitted<T> {
    emitter: Emitter<T>,
    /// `None` once it has ended.
    body: Option<BoxFuture<'static, Result<(), ToolError>>>,
    failed: Option<ToolError>,
}

impl<T> Emitted<T> {
    pub(super) fn by<R>(body: impl FnOnce(Emitter<T>) -> R) -> Self
    where
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(Slot { item: None, senders: Vec::new() }));
        let body = body(Emitter { slot: Arc::clone(&slot) });
        Self { emitter: Emitter { slot }, body: Some(Box::pin(body)), failed: None }
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
        match self.emitter.take() {
            Some(item) => Poll::Ready(Some(Ok(item))),
            None if self.body.is_some() => Poll::Pending,
            None => Poll::Ready(self.failed.take().map(Err)),
        }
    }
}
