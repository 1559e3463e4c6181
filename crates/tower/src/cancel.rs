//! Waiting that ends with the cancellation of a call.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use toolkit::{Context, ToolError};

/// Returns the output of `work`, or an error if the call is cancelled first.
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
