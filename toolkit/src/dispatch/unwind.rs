//! A panic in a tool is that call's error, not the end of the process.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;

use crate::call::{ErrorKind, ToolError};

// The tool's state may be left half-changed by a panic, as it may by a thread that panics while holding a lock; that
// is the tool's affair, and nothing of the dispatcher's is touched in between. Hence `AssertUnwindSafe`.

pub(super) fn caught<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(&*payload)))
}

pub(super) async fn caught_future<T, F>(start: impl FnOnce() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    let started = catch_unwind(AssertUnwindSafe(start)).map_err(|payload| panicked(&*payload))?;
    let mut work = pin!(started);
    std::future::poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(cx)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(panicked(&*payload))))
    })
    .await
}

#[cold]
fn panicked(payload: &(dyn Any + Send)) -> ToolError {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned());
    ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error").caused_by(text)
}
