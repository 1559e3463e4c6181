//! Runs the calls of a server, over any protocol: `tool_threads` keeps them off the threads that do I/O, on those of
//! `thread_pool`; `tool_polls` runs some of them on a thread of the server, except for those of `slow_tools`; `call_limit`
//! bounds how many run, and [`ShutdownSignals`] ends the server.

mod call_limit;
mod slow_tools;
mod thread_pool;
mod tool_polls;
mod tool_threads;

pub use self::call_limit::{CallLimiter, CallPermit, Overloaded};
#[cfg(feature = "server")]
pub(crate) use self::thread_pool::n_cores;
pub use self::tool_polls::{ToolPoll, ToolPolls, collected, record_stall};
pub use self::tool_threads::{Panicked, Task, parse_message, run_tool, spawn_tool};

/// A listener for SIGTERM and Ctrl-C, and on Linux for SIGHUP.
///
/// From its creation on, these signals no longer end the process, and none is lost.
#[derive(Debug)]
pub struct ShutdownSignals {
    #[cfg(unix)]
    interrupt: Option<tokio::signal::unix::Signal>,
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
    /// The end of the terminal, or of the program that has started this one.
    #[cfg(unix)]
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl ShutdownSignals {
    /// Creates a listener. A signal without a handler, because installing it failed, ends the process as by default.
    ///
    /// # Panics
    ///
    /// Panics outside of a tokio runtime.
    pub fn listen() -> Self {
        use tokio::signal::unix::{SignalKind, signal};

        let listen = |kind| signal(kind).ok();
        Self {
            interrupt: listen(SignalKind::interrupt()),
            terminate: listen(SignalKind::terminate()),
            // `nohup` ignores the signal, and a handler would undo that.
            hangup: if ignores_hangup() { None } else { listen(SignalKind::hangup()) },
        }
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            () = received(self.interrupt.as_mut()) => {}
            () = received(self.terminate.as_mut()) => {}
            () = received(self.hangup.as_mut()) => {}
        }
    }
}

/// Returns true if SIGHUP is ignored, or the system does not tell.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    ignored.is_none_or(|mask| mask & 1 == 1)
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
    /// Creates a listener.
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
