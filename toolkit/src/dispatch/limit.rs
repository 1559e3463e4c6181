//! How long a call may take, and that it ends when its caller gives up.

use std::future::Future;
use std::time::Duration;

#[cfg(feature = "async")]
use crate::call::ErrorKind;
#[cfg(feature = "async")]
use crate::call::timer;
use crate::call::{Context, ToolError};

/// Returns true if nothing could end a call before its tool does.
#[inline]
pub(super) fn is_unbounded(context: &Context, timeout: Option<Duration>) -> bool {
    #[cfg(feature = "async")]
    return timeout.is_none() && !context.is_cancellable();
    #[cfg(not(feature = "async"))]
    {
        let _ = (context, timeout);
        true
    }
}

/// Polls `work` until it ends, the caller gives up, or the time is over.
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
    timer::timeout(timeout, work).await?.unwrap_or_else(|| {
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

/// Polls `work` to its end: without the feature `async` nothing measures time or wakes on cancellation.
#[cfg(not(feature = "async"))]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    _context: &Context,
    _timeout: Option<Duration>,
) -> Result<T, ToolError> {
    work.await
}
