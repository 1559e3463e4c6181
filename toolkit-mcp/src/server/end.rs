//! When the process is told to end.

use std::future::Future;

/// Waits until the process is told to end.
pub(super) fn told_to_end() -> impl Future<Output = ()> {
    #[cfg(unix)]
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok();
    async move {
        #[cfg(unix)]
        let terminated = async {
            match &mut terminate {
                Some(terminate) => drop(terminate.recv().await),
                None => std::future::pending().await,
            }
        };
        #[cfg(not(unix))]
        let terminated = std::future::pending::<()>();
        tokio::select! {
            _ = tokio::signal::ctrl_c() => {}
            () = terminated => {}
        }
    }
}
