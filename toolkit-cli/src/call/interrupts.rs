//! Ctrl-C.

use std::io;

/// Every Ctrl-C since [`Interrupts::listen`], also one that comes while nothing waits for it.
#[cfg(unix)]
pub(super) struct Interrupts(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Interrupts {
    /// Takes Ctrl-C away from the default handler, which ends the process, before it returns.
    pub(super) fn listen() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    /// Waits for Ctrl-C.
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
