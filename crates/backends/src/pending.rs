//! Pending requests for the tools of backends.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use toolkit::backend::OfferedTools;
use toolkit::call::{BoxFuture, ToolError};
use toolkit::internals::caught_future;

use crate::ask::within;
use crate::registered::Registered;

type Listing = Result<OfferedTools, ToolError>;

/// Requests for tools that no collection currently awaits.
///
/// A request outlives the collection that started it. A server that is slow to start would
/// otherwise get a new request from each collection and answer none of them in time.
#[derive(Default)]
pub(crate) struct PendingLists(Mutex<Requests>);

/// Each request with its backend. The `Arc` keeps the address, which is the key, from being reused.
type Requests = HashMap<usize, (Arc<Registered>, ListRequest)>;

/// A request for the tools of one backend.
enum ListRequest {
    Running(BoxFuture<'static, Listing>),
    /// A task of the runtime, so that the request proceeds and does not hold resources, such as a
    /// lock of the backend, until the next collection.
    #[cfg(feature = "async")]
    Spawned(Spawned),
    Answered(Listing),
}

/// A task that is aborted when this is dropped.
#[cfg(feature = "async")]
struct Spawned(tokio::task::JoinHandle<Listing>);

/// A request that a collection awaits. Dropping it returns the request to the list.
struct WaitingList<'p> {
    lists: &'p PendingLists,
    backend: Arc<Registered>,
    request: Option<ListRequest>,
}

impl PendingLists {
    /// Returns the tools of a backend: the answer to a pending request, or to a new one.
    pub(crate) fn list(&self, backend: &Arc<Registered>, timeout: Duration) -> impl Future<Output = Listing> {
        let waiting = self.lock().remove(&key(backend));
        let request = waiting.map(|(_, request)| request).unwrap_or_else(|| {
            let backend = Arc::clone(backend);
            ListRequest::Running(Box::pin(async move {
                within(timeout, pin!(caught_future(|| backend.backend().tools()))).await
            }))
        });
        let mut waiting = WaitingList { lists: self, backend: Arc::clone(backend), request: Some(request) };
        poll_fn(move |cx| waiting.poll_answer(cx))
    }

    /// Waits until a pending request is answered. The answer is kept for the next
    /// [`PendingLists::list`].
    pub(crate) async fn answered(&self, backend: &Arc<Registered>) {
        let Some((backend, request)) = self.lock().remove(&key(backend)) else {
            return std::future::pending().await;
        };
        let mut waiting = WaitingList { lists: self, backend, request: Some(request) };
        poll_fn(|cx| waiting.poll_settled(cx)).await;
    }

    /// Returns true if a request to the backend is pending, or answered and not consumed.
    pub(crate) fn has(&self, backend: &Arc<Registered>) -> bool {
        self.lock().contains_key(&key(backend))
    }

    /// Drops the requests to all other backends.
    pub(crate) fn retain<'b>(&self, backends: impl Iterator<Item = &'b Arc<Registered>>) {
        let keys: Vec<usize> = backends.map(key).collect();
        let mut lists = self.lock();
        let (kept, dropped) = std::mem::take(&mut *lists).into_iter().partition(|(at, _)| keys.contains(at));
        *lists = kept;
        drop(lists);
        // Dropped after unlocking: dropping a request runs code of a backend.
        let _: Requests = dropped;
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the key of a registration.
fn key(backend: &Arc<Registered>) -> usize {
    Arc::as_ptr(backend).addr()
}

impl WaitingList<'_> {
    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let answer = match &mut self.request {
            Some(ListRequest::Running(request)) => request.as_mut().poll(cx),
            #[cfg(feature = "async")]
            Some(ListRequest::Spawned(task)) => {
                let outcome = std::pin::Pin::new(&mut task.0).poll(cx);
                outcome.map(|outcome| outcome.unwrap_or_else(|error| Err(ToolError::internal(error))))
            }
            Some(ListRequest::Answered(_)) | None => return Poll::Ready(()),
        };
        answer.map(|answer| self.request = Some(ListRequest::Answered(answer)))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Listing> {
        match self.poll_settled(cx) {
            Poll::Ready(()) => match self.request.take() {
                Some(ListRequest::Answered(answer)) => Poll::Ready(answer),
                _ => Poll::Pending,
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for WaitingList<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let request = unattended(request);
            let former = self.lists.lock().insert(key(&self.backend), (Arc::clone(&self.backend), request));
            // Dropped after unlocking: dropping a request runs code of a backend.
            drop(former);
        }
    }
}

/// Prepares a request for the time in which no collection polls it.
fn unattended(request: ListRequest) -> ListRequest {
    match request {
        #[cfg(feature = "async")]
        ListRequest::Running(running) => match tokio::runtime::Handle::try_current() {
            Ok(runtime) => ListRequest::Spawned(Spawned(runtime.spawn(running))),
            Err(_) => ListRequest::Running(running),
        },
        request => request,
    }
}

#[cfg(feature = "async")]
impl Drop for Spawned {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl std::fmt::Debug for PendingLists {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("PendingLists").field(&self.lock().len()).finish()
    }
}
