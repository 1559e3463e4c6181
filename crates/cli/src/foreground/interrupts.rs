//! Ctrl-C during a call.

use std::io;

/// A stream of Ctrl-C events since [`Interrupts::listen`], including those that arrive between two calls of `next`.
#[cfg(unix)]
pub(super) struct Interrupts(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Interrupts {
    /// Replaces the default handler of Ctrl-C, which ends the process.
    pub(super) fn listen() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    /// Waits for the next Ctrl-C.
    pub(super) async fn next(&mut self) {
        self.0.recv().await;
    }
}

#[cfg(windows)]
pub(super) struct Interrupts(tokio::signal::windows::CtrlC);

#[cfg(windows)]
impl Interrupts {
    pub(super) fn listen() -> io::Result<Self> {
        tokio::signal::windows::ctrl_c().map(Self)
    }

    pub(super) async fn next(&mut self) {
        self.0.recv().await;
    }
}
