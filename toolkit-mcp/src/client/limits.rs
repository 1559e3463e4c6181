//! The limits of a server.

use std::time::Duration;

use tokio::sync::Semaphore;

/// The limits of a server.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Limits {
    pub(super) call: Duration,
    /// The timeout of connecting, of each page of tools, and of each request about a task.
    pub(super) start: Duration,
    pub(super) message_bytes: usize,
    pub(super) result_bytes: usize,
    /// The number of concurrent calls.
    pub(super) calls: usize,
    pub(super) tools: usize,
    /// The size of all pages together.
    pub(super) list_bytes: usize,
    pub(super) pages: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            call: Duration::from_secs(300),
            start: Duration::from_secs(30),
            message_bytes: 16 << 20,
            result_bytes: usize::MAX,
            calls: Semaphore::MAX_PERMITS,
            tools: 10_000,
            list_bytes: 64 << 20,
            pages: 1_000,
        }
    }
}
