//! Concurrent requests to backends with a timeout, and waiting for their change notifications.

use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use toolkit::backend::Backend;
use toolkit::call::{BoxFuture, ToolError};
use toolkit::internals::caught_future;

/// Sends `question` to a backend. A panic or a timeout is returned as an error.
pub(crate) async fn request<T>(
    backend: &dyn Backend,
    question: for<'b> fn(&'b dyn Backend) -> BoxFuture<'b, Result<T, ToolError>>,
    timeout: Duration,
) -> Result<T, ToolError> {
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

/// Waits until the first of several futures completes.
pub(crate) async fn first_of(waiting: impl Iterator<Item = BoxFuture<'_, ()>>) {
    let mut waiting: Vec<_> = waiting.collect();
    poll_fn(|cx| match waiting.iter_mut().any(|one| one.as_mut().poll(cx).is_ready()) {
        true => Poll::Ready(()),
        false => Poll::Pending,
    })
    .await;
}

/// Polls `work` until it completes or the timeout elapses. Without the feature `async` there is no timeout.
pub(crate) async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    #[cfg(feature = "async")]
    {
        let (mut work, mut over) = (pin!(work), pin!(toolkit::dispatch::sleep(timeout)));
        poll_fn(|cx| {
            if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
                return Poll::Ready(outcome);
            }
            over.as_mut().poll(cx).map(|slept| {
                slept?;
                Err(ToolError::new(toolkit::call::ErrorKind::TimedOut, format!("no response within {timeout:?}")))
            })
        })
        .await
    }
    #[cfg(not(feature = "async"))]
    {
        let _ = timeout;
        work.await
    }
}
