//! Concurrent requests to backends with a timeout, and waiting for their change notifications.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use toolkit::backend::Backend;
use toolkit::call::{BoxFuture, ToolError};
use toolkit::internals::caught_future;

/// A request to a backend, such as to start.
pub(crate) type Question = for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<(), ToolError>>;

/// Sends `question` to a backend. A panic or a timeout is returned as an error.
pub(crate) async fn request(backend: &dyn Backend, question: Question, timeout: Duration) -> Result<(), ToolError> {
    within(timeout, pin!(caught_future(|| question(backend)))).await
}

/// Runs all requests concurrently and returns the responses in their order.
pub(crate) async fn join_all<T>(requests: impl Iterator<Item = impl Future<Output = T>>) -> Vec<T> {
    let mut futures: Vec<_> = requests.map(Box::pin).collect();
    let mut responses: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, response) in futures.iter_mut().zip(&mut responses) {
            if response.is_none()
                && let Poll::Ready(ready) = future.as_mut().poll(cx)
            {
                *response = Some(ready);
            }
        }
        if responses.iter().any(Option::is_none) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    responses.into_iter().flatten().collect()
}

/// Waits until the tools of a backend change. If the backend panics, the future never completes.
pub(crate) fn changed(backend: &dyn Backend) -> BoxFuture<'_, ()> {
    let changed = caught_future(|| async {
        backend.changed().await;
        Ok(())
    });
    Box::pin(async {
        if changed.await.is_err() {
            pending().await
        }
    })
}

/// Waits until one of the `running` futures completes, and removes it. Others that complete at the same time are left,
/// so that each result is measured before the next one exists.
pub(crate) async fn next_of<T>(running: &mut Vec<BoxFuture<'_, T>>) -> T {
    poll_fn(|cx| {
        for idx in 0..running.len() {
            if let Poll::Ready(value) = running[idx].as_mut().poll(cx) {
                drop(running.swap_remove(idx));
                return Poll::Ready(value);
            }
        }
        Poll::Pending
    })
    .await
}

/// Polls `work` until it completes or the timeout elapses. Without the feature `async` there is no timeout.
pub(crate) async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    #[cfg(feature = "async")]
    {
        let late = || ToolError::new(toolkit::call::ErrorKind::TimedOut, format!("no response within {timeout:?}"));
        toolkit::internals::timeout(timeout, work).await?.unwrap_or_else(|| Err(late()))
    }
    #[cfg(not(feature = "async"))]
    {
        let _ = timeout;
        work.await
    }
}
