//! Lists of tools that backends were asked for and have not given yet.

use std::collections::HashMap;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use super::Offers;
use super::deadline::within;
use super::registry::Registered;
use crate::call::BoxFuture;
use crate::call::{ToolError, unwind};

type Answer = Result<Offers, ToolError>;

/// Requests for tools that nobody waits for at the moment.
///
/// A request outlives the collection that began it: a server that takes long to start would otherwise be asked again
/// by each collection, and answer none of them in time.
#[derive(Default)]
pub(super) struct PendingLists(Mutex<Requests>);

/// Each with its backend, so that no other gets the address by which it is identified.
type Requests = HashMap<usize, (Arc<Registered>, Request)>;

/// A request for the tools of one backend.
enum Request {
    Running(BoxFuture<'static, Answer>),
    /// It runs by itself, so that what it holds, such as a lock of the backend, is not held until the next collection.
    #[cfg(feature = "async")]
    Spawned(Spawned),
    Answered(Answer),
}

/// A task that ends with this.
#[cfg(feature = "async")]
struct Spawned(tokio::task::JoinHandle<Answer>);

/// A request while somebody waits for it. Dropping it puts it back.
struct Waiting<'p> {
    lists: &'p PendingLists,
    backend: Arc<Registered>,
    request: Option<Request>,
}

impl PendingLists {
    /// Returns the tools of a backend: the answer to a request that is already under way, or to a new one.
    pub(super) fn list(&self, backend: &Arc<Registered>, patience: Duration) -> impl Future<Output = Answer> {
        let waiting = self.lock().remove(&key(backend));
        let request = waiting.map(|(_, request)| request).unwrap_or_else(|| {
            let backend = Arc::clone(backend);
            Request::Running(Box::pin(async move {
                within(patience, pin!(unwind::caught_future(|| backend.backend().tools()))).await
            }))
        });
        let mut waiting = Waiting { lists: self, backend: Arc::clone(backend), request: Some(request) };
        poll_fn(move |cx| waiting.poll_answer(cx))
    }

    /// Waits until a request that is under way is answered; the answer is kept for the next [`PendingLists::list`].
    pub(super) async fn answered(&self, backend: &Arc<Registered>) {
        let Some((backend, request)) = self.lock().remove(&key(backend)) else {
            return std::future::pending().await;
        };
        let mut waiting = Waiting { lists: self, backend, request: Some(request) };
        poll_fn(|cx| waiting.poll_settled(cx)).await;
    }

    /// Returns true if a request to the backend is under way or was answered meanwhile.
    pub(super) fn has(&self, backend: &Arc<Registered>) -> bool {
        self.lock().contains_key(&key(backend))
    }

    /// Gives up the requests to all backends but these.
    pub(super) fn retain<'b>(&self, backends: impl Iterator<Item = &'b Arc<Registered>>) {
        let keys: Vec<usize> = backends.map(key).collect();
        let mut lists = self.lock();
        let (kept, dropped) = std::mem::take(&mut *lists).into_iter().partition(|(at, _)| keys.contains(at));
        *lists = kept;
        drop(lists);
        // Not under the lock: dropping a request runs code of a backend.
        let _: Requests = dropped;
    }

    fn lock(&self) -> MutexGuard<'_, Requests> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Identifies a registration.
fn key(backend: &Arc<Registered>) -> usize {
    Arc::as_ptr(backend).addr()
}

impl Waiting<'_> {
    fn poll_settled(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let answer = match &mut self.request {
            Some(Request::Running(request)) => request.as_mut().poll(cx),
            #[cfg(feature = "async")]
            Some(Request::Spawned(task)) => {
                let outcome = std::pin::Pin::new(&mut task.0).poll(cx);
                outcome.map(|outcome| outcome.unwrap_or_else(|error| Err(ToolError::internal(error))))
            }
            Some(Request::Answered(_)) | None => return Poll::Ready(()),
        };
        answer.map(|answer| self.request = Some(Request::Answered(answer)))
    }

    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Answer> {
        match self.poll_settled(cx) {
            Poll::Ready(()) => match self.request.take() {
                Some(Request::Answered(answer)) => Poll::Ready(answer),
                _ => Poll::Pending,
            },
            Poll::Pending => Poll::Pending,
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let request = unattended(request);
            let former = self.lists.lock().insert(key(&self.backend), (Arc::clone(&self.backend), request));
            // Not under the lock: dropping a request runs code of a backend.
            drop(former);
        }
    }
}

/// The request while nobody polls it.
fn unattended(request: Request) -> Request {
    match request {
        #[cfg(feature = "async")]
        Request::Running(running) => match tokio::runtime::Handle::try_current() {
            Ok(runtime) => Request::Spawned(Spawned(runtime.spawn(running))),
            Err(_) => Request::Running(running),
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
