//! Waits for what a test expects to happen.

use std::future::Future;
use std::time::Duration;

/// Awaits a future with a timeout.
///
/// # Panics
///
/// Panics after the timeout.
pub async fn in_the_end<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), work).await.expect("it hangs")
}

/// Waits until a condition holds.
///
/// # Panics
///
/// Panics after the timeout of [`in_the_end`].
pub async fn until(mut holds: impl AsyncFnMut() -> bool) {
    in_the_end(async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await;
}
