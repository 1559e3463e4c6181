//! Isolation of panics in foreign code (tools, layers, listeners, backends): a panic ends one call and not the
//! process.

use std::any::Any;
use std::error::Error;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::task::Poll;

// `AssertUnwindSafe` is sound here: a panic may leave the state of the tool inconsistent, like that of a thread that
// panics while it holds a lock. No state of the dispatcher is modified while foreign code runs.

/// The message of a panic.
#[derive(Debug)]
pub(crate) struct Panic(pub(crate) String);

impl Panic {
    fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload
            .downcast_ref::<&str>()
            .map(|text| (*text).to_owned())
            .or_else(|| payload.downcast_ref::<String>().cloned())
            .unwrap_or_else(|| "a panic without a message".to_owned());
        // Dropping the payload may panic again, with a payload that panics when it is dropped.
        if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(payload))) {
            std::mem::forget(again);
        }
        Self(text)
    }
}

/// Runs foreign code and catches a panic.
pub(crate) fn catch<T>(work: impl FnOnce() -> T) -> Result<T, Panic> {
    catch_unwind(AssertUnwindSafe(work)).map_err(Panic::new)
}

/// Polls the future of foreign code to completion and catches a panic.
pub(crate) fn catch_future<F: Future>(start: impl FnOnce() -> F) -> impl Future<Output = Result<F::Output, Panic>> {
    catch_future_within(|| (), start)
}

/// Does the same as [`catch_future`], and holds what `enter` returns while foreign code runs.
pub(crate) async fn catch_future_within<F: Future, G>(
    enter: impl Fn() -> G,
    start: impl FnOnce() -> F,
) -> Result<F::Output, Panic> {
    let started = {
        let _entered = enter();
        catch(start)?
    };
    let mut slot = pin!(Some(started));
    let mut work = DroppedQuietly(slot.as_mut());
    std::future::poll_fn(|cx| {
        let _entered = enter();
        match catch(|| work.poll(cx)) {
            Ok(polled) => polled.map(Ok),
            Err(panic) => Poll::Ready(Err(panic)),
        }
    })
    .await
}

/// Runs code of the host and logs a panic, which must not end the call.
pub fn shielded(what: &str, work: impl FnOnce()) {
    if let Err(Panic(text)) = catch(work) {
        tracing::error!(panic = text, "{what} panicked");
    }
}

/// A future that may be dropped before it completes, after a timeout or a cancellation. Dropping the values of a tool
/// may panic, which must not reach the caller.
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
        shielded("the destructor of a dropped call", || work.set(None));
    }
}

/// The maximum number of errors that are read of one. A chain of sources may be a cycle.
const MAX_SOURCES: usize = 64;

/// Returns an iterator over an error and its sources.
pub(crate) fn with_sources<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source()).take(MAX_SOURCES)
}

/// Returns the texts of an error and its sources, whose implementations are foreign code. Some errors print their source
/// themselves, so a text that another contains is omitted.
pub(crate) fn text_of(error: &(dyn Error + 'static)) -> String {
    let join = |mut text: String, next: String| {
        if !text.contains(&next) {
            text = format!("{text}: {next}");
        }
        text
    };
    catch(|| with_sources(error).map(ToString::to_string).reduce(join).unwrap_or_default())
        .unwrap_or_else(|_| "an error that panics when it is printed".to_owned())
}
