//! A panic in code of others (a tool, a layer, a listener, a backend) is the error of one call, not the end of the process.

use std::any::Any;
use std::error::Error;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

use super::{ErrorKind, ToolError};

// The tool's state may be left half-changed by a panic, as it may by a thread that panics while holding a lock; that
// is the tool's affair, and nothing of the dispatcher's is touched in between. Hence `AssertUnwindSafe`.

pub(crate) fn caught<T>(work: impl FnOnce() -> Result<T, ToolError>) -> Result<T, ToolError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panicked(payload)))
}

pub(crate) async fn caught_future<T, F>(start: impl FnOnce() -> F) -> Result<T, ToolError>
where
    F: Future<Output = Result<T, ToolError>>,
{
    let started = catch_unwind(AssertUnwindSafe(start)).map_err(panicked)?;
    let mut slot = pin!(Some(started));
    let mut work = DroppedQuietly(slot.as_mut());
    std::future::poll_fn(|cx| {
        let polled = catch_unwind(AssertUnwindSafe(|| work.poll(cx)));
        polled.unwrap_or_else(|payload| Poll::Ready(Err(panicked(payload))))
    })
    .await
}

/// A future that may be dropped before it has come to its end, by a time limit or a caller who gives up. What it holds
/// is the tool's, and a panic in dropping that must not reach the caller.
struct DroppedQuietly<'a, F>(Pin<&'a mut Option<F>>);

impl<T, F: Future<Output = Result<T, ToolError>>> DroppedQuietly<'_, F> {
    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<Result<T, ToolError>> {
        match self.0.as_mut().as_pin_mut() {
            Some(work) => work.poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for DroppedQuietly<'_, F> {
    fn drop(&mut self) {
        let work = &mut self.0;
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| work.set(None))) {
            panicked(payload);
        }
    }
}

/// The text of an error whose `Display` is the tool's own.
pub(crate) fn text_of(error: &(dyn Error + 'static)) -> String {
    catch_unwind(AssertUnwindSafe(|| error.to_string())).unwrap_or_else(|payload| {
        panicked(payload);
        "an error that panics when it is printed".to_owned()
    })
}

#[cold]
fn panicked(payload: Box<dyn Any + Send>) -> ToolError {
    let text = payload
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a text".to_owned());
    // What somebody panics with may panic when it is dropped, and so may what that panics with.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
        std::mem::forget(again);
    }
    ToolError::new(ErrorKind::Panicked, "the tool failed with an internal error").caused_by(text)
}
