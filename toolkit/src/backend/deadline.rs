//! Timeouts of requests to backends.

use std::future::Future;
use std::time::Duration;

use crate::call::ToolError;
#[cfg(feature = "async")]
use crate::call::{ErrorKind, timer};

/// Polls `work` until it completes or the timeout elapses. Without the feature `async` there is no
/// timeout.
pub(super) async fn within<T>(
    timeout: Duration,
    work: impl Future<Output = Result<T, ToolError>>,
) -> Result<T, ToolError> {
    #[cfg(feature = "async")]
    return timer::timeout(timeout, work).await?.unwrap_or_else(|| {
        let message = format!("no response within {timeout:?}");
        Err(ToolError::new(ErrorKind::TimedOut, message))
    });
    #[cfg(not(feature = "async"))]
    {
        let _ = timeout;
        work.await
    }
}
