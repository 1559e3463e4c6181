//! Waiting that ends when the caller gives up.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use toolkit::{Context, ToolError};

/// What `work` gives, unless the caller gives up first.
pub(crate) async fn unless_cancelled<T>(context: &Context, work: impl Future<Output = T>) -> Result<T, ToolError> {
    let (mut work, mut cancelled) = (pin!(work), pin!(context.cancelled()));
    poll_fn(|cx| {
        if let Poll::Ready(done) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(done));
        }
        cancelled.as_mut().poll(cx).map(|()| Err(ToolError::cancelled()))
    })
    .await
}

/// Whether there is anything here that measures time.
pub(crate) fn has_timers() -> bool {
    // Tokio panics on a runtime that was built without timers, and has no other way to ask.
    let makes_one = || std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok();
    tokio::runtime::Handle::try_current().is_ok() && makes_one()
}
