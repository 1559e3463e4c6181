//! The signals that ask a process to end.

/// Waits for SIGTERM and Ctrl-C.
///
/// From its creation on, these signals no longer end the process by themselves, and none is lost.
#[derive(Debug)]
pub struct ShutdownSignals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ShutdownSignals {
    /// Starts to listen. A signal that cannot be listened for ends the process, as it does by default.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime.
    #[must_use]
    pub fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        Self { interrupt: signal(SignalKind::interrupt()).ok(), terminate: signal(SignalKind::terminate()).ok() }
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => {}
            () = received(self.terminate.as_mut()) => {}
        }
    }
}

#[cfg(unix)]
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

#[cfg(not(unix))]
impl ShutdownSignals {
    /// Starts to listen.
    #[must_use]
    pub fn listen() -> Self {
        Self {}
    }

    /// Waits for the next Ctrl-C.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending().await
        }
    }
}
