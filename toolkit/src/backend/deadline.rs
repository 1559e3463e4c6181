//! How long a backend may take to answer.

use std::future::Future;
use std::time::Duration;

use crate::call::ToolError;
#[cfg(feature = "async")]
use crate::call::{ErrorKind, timer};

/// Polls `work` until it ends or the time is over; without the feature `async`, until it ends.
pub(super) async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    #[cfg(feature = "async")]
    return timer::timeout(timeout, work).await?.unwrap_or_else(|| {
        let message = format!("there was no answer within {timeout:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    });
    #[cfg(not(feature = "async"))]
    {
        let _ = timeout;
        work.await
    }
}
