//! A panic in code of others (a tool, a layer, a listener, a backend) is the error of one call, not the end of the process.

use std::any::Any;
use std::error::Error;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

// The tool's state may be left half-changed by a panic, as it may by a thread that panics while holding a lock; that
// is the tool's affair, and nothing of the dispatcher's is touched in between. Hence `AssertUnwindSafe`.

/// What somebody panicked with.
#[derive(Debug)]
pub(crate) struct Panic(pub(crate) String);

impl Panic {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a text".to_owned());
        // What somebody panics with may panic when it is dropped, and so may what that panics with.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
        Self(text)
    }
}

/// Runs `work`, which is code of others.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Panic::new)
}

/// Polls to its end what `start` gives, which is code of others.
pub(crate) async fn catch_future<F: Future>(start: impl FnOnce() -> F) -> Result<F::Output, Panic> {
    let started = catch(start)?;
    let mut slot = pin!(Some(started));
    let mut work = DroppedQuietly(slot.as_mut());
    std::future::poll_fn(|cx| match catch(|| work.poll(cx)) {
        Ok(polled) => polled.map(Ok),
        Err(panic) => Poll::Ready(Err(panic)),
    })
    .await
}

/// Runs `work` of the host, which a call goes on without.
pub(crate) fn shielded(what: &str, work: impl FnOnce()) {
    if let Err(Panic(text)) = catch(work) {
        tracing::error!(panic = text, "{what} panicked");
    }
}

/// A future that may be dropped before it has come to its end, by a time limit or a caller who gives up. What it holds
/// is the tool's, and a panic in dropping that must not reach the caller.
struct DroppedQuietly<'a, F>(Pin<&'a mut Option<F>>);

impl<F: Future> DroppedQuietly<'_, F> {
    fn poll(&mut self, cx: &mut std::task::Context<'_>) -> Poll<F::Output> {
        match self.0.as_mut().as_pin_mut() {
            Some(work) => work.poll(cx),
            None => Poll::Pending,
        }
    }
}

impl<F> Drop for DroppedQuietly<'_, F> {
    fn drop(&mut self) {
        let work = &mut self.0;
        shielded("what a call left behind", || work.set(None));
    }
}

/// The text of an error whose `Display` is the tool's own.
pub(crate) fn text_of(error: &(dyn Error + 'static)) -> String {
    catch(|| error.to_string()).unwrap_or_else(|_| "an error that panics when it is printed".to_owned())
}
