//! Timeouts that work on any executor.
//!
//! Tokio's timers belong to a runtime, which may be built without them. In that case tokio panics, and there is no way
//! to check in advance. Therefore a separate runtime with timers only measures the time. Its thread starts with the
//! first call that has a timeout and is not finished when it is first polled.

use std::future::{Future, pending, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::{Pin, pin};
use std::sync::LazyLock;
use std::task::{Poll, ready};
use std::thread;
use std::time::{Duration, Instant};

use tokio::runtime::{Builder, Handle};
use tokio::time::{self, Sleep};

use super::kind::ErrorKind;
use super::tool_error::ToolError;

/// The least time by which a timer is set again, so that a long extension does not wake it all the time.
const MIN_EXTENSION: Duration = Duration::from_millis(20);

/// Polls `work` until it completes or `limit` elapses. Returns `None` in the latter case.
///
/// # Errors
///
/// Returns an error if the timer thread cannot be started.
pub async fn timeout<W: Future>(limit: Duration, work: W) -> Result<Option<W::Output>, ToolError> {
    timeout_extended(limit, || Duration::ZERO, work).await
}

/// Does the same as [`timeout`] with a limit that is extended by what `extension` returns, which may grow while `work`
/// runs.
///
/// # Errors
///
/// Returns an error if the timer thread cannot be started.
pub(crate) async fn timeout_extended<W: Future>(
    limit: Duration,
    extension: impl Fn() -> Duration,
    work: W,
) -> Result<Option<W::Output>, ToolError> {
    let (mut work, mut over) = (pin!(work), None);
    let start = Instant::now();
    poll_fn(|cx| {
        if let Poll::Ready(output) = work.as_mut().poll(cx) {
            return Poll::Ready(Ok(Some(output)));
        }
        loop {
            let timer: &mut Pin<Box<Sleep>> = match &mut over {
                Some(over) => over,
                none => match after(limit.saturating_sub(start.elapsed())) {
                    Ok(sleep) => none.insert(Box::pin(sleep)),
                    Err(error) => return Poll::Ready(Err(error)),
                },
            };
            ready!(timer.as_mut().poll(cx));
            let left = limit.saturating_add(extension()).saturating_sub(start.elapsed());
            if left.is_zero() {
                return Poll::Ready(Ok(None));
            }
            match after(left.max(MIN_EXTENSION)) {
                Ok(sleep) => *timer = Box::pin(sleep),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    })
    .await
}

/// Waits for a duration on any executor, without a runtime. Layers use it to wait between attempts.
///
/// # Errors
///
/// Returns an error if the timer thread cannot be started.
///
/// # Examples
///
/// A function that waits longer after each failed attempt, on an executor without timers:
///
/// ```
/// use std::time::Duration;
///
/// use toolkit::ToolError;
/// use toolkit::dispatch::sleep;
///
/// async fn retry<T>(mut attempt: impl FnMut() -> Option<T>) -> Result<T, ToolError> {
///     let mut pause = Duration::from_millis(1);
///     loop {
///         match attempt() {
///             Some(done) => return Ok(done),
///             None => sleep(pause).await?,
///         }
///         pause *= 2;
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let mut answers = [None, None, Some("ready")].into_iter();
/// assert_eq!(retry(|| answers.next().flatten()).await?, "ready");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub async fn sleep(duration: Duration) -> Result<(), ToolError> {
    after(duration)?.await;
    Ok(())
}

fn after(duration: Duration) -> Result<Sleep, ToolError> {
    static TIMERS: LazyLock<Option<Handle>> = LazyLock::new(start);

    let Some(timers) = &*TIMERS else {
        let message = "the timer thread cannot be started";
        return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
    };
    let _entered = timers.enter();
    Ok(time::sleep(duration))
}

fn start() -> Option<Handle> {
    let runtime = Builder::new_current_thread().enable_time().build().ok()?;
    let timers = runtime.handle().clone();
    let run = move || {
        // A waker may run code of another executor and panic; the other timers must continue.
        while catch_unwind(AssertUnwindSafe(|| runtime.block_on(pending::<()>()))).is_err() {}
    };
    thread::Builder::new().name("toolkit-timers".to_owned()).spawn(run).ok()?;
    Some(timers)
}
