//! The limits of a worker, with their defaults.

use std::time::Duration;

/// The limits of a [`Worker`](super::Worker).
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_nats::WorkerLimits;
///
/// let mut limits = WorkerLimits::default();
/// limits.max_calls = 16;
/// limits.shutdown_timeout = Duration::from_secs(60);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WorkerLimits {
    /// The maximum number of concurrent calls. Default: 256.
    pub max_calls: usize,
    /// The timeout of a call. A shorter timeout of the tool or of the caller applies too. Default: 5 minutes.
    pub call_timeout: Duration,
    /// The time that running calls have to end after a shutdown was requested. Default: 30 s.
    pub shutdown_timeout: Duration,
    /// The interval in which a worker reports to the caller that a call still runs. Default: 5 s.
    pub beat: Duration,
    /// The maximum size of the arguments from the object store that the worker holds at the same time, in bytes. Further
    /// calls with such arguments wait. Default: 256 MiB.
    pub max_body_bytes: usize,
}

impl Default for WorkerLimits {
    fn default() -> Self {
        Self {
            max_calls: 256,
            call_timeout: Duration::from_secs(300),
            shutdown_timeout: Duration::from_secs(30),
            beat: Duration::from_secs(5),
            max_body_bytes: 256 << 20,
        }
    }
}
