//! How many calls run at once, and how long each may take.

use std::future::Future;
use std::time::Duration;

use crate::call::{Context, ErrorKind, ToolError};

#[cfg(feature = "async")]
mod places {
    use std::sync::Arc;

    use tokio::sync::{OwnedSemaphorePermit, Semaphore};

    use super::{ToolError, overloaded};

    /// A bound on the calls that run at once; none by default. Clones are one bound.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Limiter(Option<Arc<Semaphore>>);

    /// The right to run, until it is dropped.
    #[derive(Debug)]
    pub(crate) struct Place {
        _permit: Option<OwnedSemaphorePermit>,
    }

    impl Limiter {
        pub(crate) fn at_most(n_calls: usize) -> Self {
            Self(Some(Arc::new(Semaphore::new(n_calls.min(Semaphore::MAX_PERMITS)))))
        }

        pub(crate) fn try_enter(&self) -> Result<Place, ToolError> {
            let permit = match &self.0 {
                Some(places) => Some(Arc::clone(places).try_acquire_owned().map_err(|_| overloaded())?),
                None => None,
            };
            Ok(Place { _permit: permit })
        }

        pub(crate) async fn enter(&self) -> Result<Place, ToolError> {
            let permit = match &self.0 {
                // The semaphore is never closed, so this only ever waits.
                Some(places) => Some(Arc::clone(places).acquire_owned().await.map_err(|_| overloaded())?),
                None => None,
            };
            Ok(Place { _permit: permit })
        }
    }
}

#[cfg(not(feature = "async"))]
mod places {
    use std::sync::Arc;

    use super::{ToolError, overloaded};

    /// A bound on the calls that run at once; none by default. Clones are one bound.
    #[derive(Clone, Debug, Default)]
    pub(crate) struct Limiter(Option<Arc<Places>>);

    #[derive(Debug)]
    struct Places {
        /// Each running call holds a clone.
        running: Arc<()>,
        n_calls: usize,
    }

    /// The right to run, until it is dropped.
    #[derive(Debug)]
    pub(crate) struct Place {
        _permit: Option<Arc<()>>,
    }

    impl Limiter {
        pub(crate) fn at_most(n_calls: usize) -> Self {
            Self(Some(Arc::new(Places { running: Arc::default(), n_calls })))
        }

        pub(crate) fn try_enter(&self) -> Result<Place, ToolError> {
            let Some(places) = &self.0 else {
                return Ok(Place { _permit: None });
            };
            let permit = Arc::clone(&places.running);
            // The limiter's own reference and the new one are no running calls.
            if Arc::strong_count(&permit) - 1 > places.n_calls {
                return Err(overloaded());
            }
            Ok(Place { _permit: Some(permit) })
        }

        pub(crate) async fn enter(&self) -> Result<Place, ToolError> {
            self.try_enter()
        }
    }
}

pub(super) use self::places::{Limiter, Place};

fn overloaded() -> ToolError {
    let message = "as many calls run as may; try again later";
    ToolError::new(ErrorKind::Overloaded, message)
}

/// Polls `work` until it ends, the caller gives up, or the time is over.
#[cfg(feature = "async")]
pub(super) async fn bounded<T>(
    work: impl Future<Output = Result<T, ToolError>>,
    context: &Context,
    time_limit: Option<Duration>,
) -> Result<T, ToolError> {
    let work = until_cancelled(work, context);
    let Some(time_limit) = time_limit else {
        return work.await;
    };
    if !has_timers() {
        let message = "the tool has a time limit; call it on a tokio runtime with timers";
        return Err(ToolError::new(ErrorKind::NeedsRuntime, message));
    }
    tokio::time::timeout(time_limit, work).await.unwrap_or_else(|_| {
        let message = format!("the tool took longer than {time_limit:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    })
}

/// Whether there is anything here that measures time.
#[cfg(feature = "async")]
fn has_timers() -> bool {
    // Tokio panics on a runtime that was built without timers, and has no other way to ask.
    let makes_one = || std::panic::catch_unwind(|| drop(tokio::time::sleep(Duration::ZERO))).is_ok();
    tokio::runtime::Handle::try_current().is_ok() && makes_one()
}

/// Polls `work` until it ends or the time is over; where nothing measures time, until it ends.
pub(crate) async fn within<T>(
    time_limit: Duration,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    #[cfg(feature = "async")]
    if has_timers() {
        return tokio::time::timeout(time_limit, work).await.unwrap_or_else(|_| {
            let message = format!("there was no answer within {time_limit:?}");
            Err(ToolError::new(ErrorKind::TimedOut, message))
        });
    }
    let _ = time_limit;
    work.await
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
    _time_limit: Option<Duration>,
) -> Result<T, ToolError> {
    work.await
}
