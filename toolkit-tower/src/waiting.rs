//! Waiting that ends when the caller gives up.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

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
