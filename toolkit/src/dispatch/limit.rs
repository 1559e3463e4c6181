//! Timeouts and cancellation of calls.

use std::future::Future;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::call::ErrorKind;
#[cfg(feature = "async")]
use crate::call::timer;
use crate::call::{Context, ToolError};

/// Polls `work` until it completes, the call is cancelled, or the timeout elapses. The time that the call waits for
/// answers of its user does not count.
#[cfg(feature = "async")]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
    timeout: Option<Duration>,
) -> Result<T, ToolError> {
    let work = until_cancelled(work, context);
    let Some(timeout) = timeout else {
        return work.await;
    };
    let asked_before = context.time_asking();
    let asking = || context.time_asking().saturating_sub(asked_before);
    timer::timeout_extended(timeout, asking, work).await?.unwrap_or_else(|| {
        let message = format!("the tool took longer than {timeout:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    })
}

#[cfg(feature = "async")]
async fn until_cancelled<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
) -> Result<T, ToolError> {
    use std::pin::pin;
    use std::task::Poll;

    if !context.is_cancellable() {
        return work.await;
    }
    let mut work = pin!(work);
    let mut cancelled = pin!(context.cancelled());
    std::future::poll_fn(|cx| {
        if let Poll::Ready(outcome) = work.as_mut().poll(cx) {
            return Poll::Ready(outcome);
        }
        cancelled.as_mut().poll(cx).map(|()| Err(ToolError::cancelled()))
    })
    .await
}

/// Polls `work` to completion. Timeouts and cancellation need the feature `async`.
#[cfg(not(feature = "async"))]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    _context: &Context,
    _timeout: Option<Duration>,
) -> Result<T, ToolError> {
    work.await
}
