//! The state of backends and the counts of their calls, for operators.

use std::fmt;
use std::time::{Duration, SystemTime};

use crate::call::ErrorKind;

/// The state of a backend's connection.
///
/// # Examples
///
/// ```
/// use toolkit::backend::BackendState;
///
/// assert_eq!(BackendState::BackingOff.to_string(), "backing_off");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BackendState {
    /// The backend has not been used yet.
    Idle,
    /// An attempt to connect is running.
    Connecting,
    /// The backend can be called.
    Ready,
    /// The backend is connected, and its tools cannot be listed.
    Failed,
    /// The connection is lost or could not be established. The next attempt follows.
    BackingOff,
    /// The host has stopped the backend.
    Stopped,
    /// The host has disabled the backend.
    Disabled,
}

impl BackendState {
    /// Returns the name in `snake_case`. The names are stable.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Connecting => "connecting",
            Self::Ready => "ready",
            Self::Failed => "failed",
            Self::BackingOff => "backing_off",
            Self::Stopped => "stopped",
            Self::Disabled => "disabled",
        }
    }
}

impl fmt::Display for BackendState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The state of a backend's connection and its history, as the backend reports it with
/// [`Backend::status`](super::Backend::status).
///
/// # Examples
///
/// ```
/// use std::time::SystemTime;
///
/// use toolkit::backend::{BackendState, BackendStatus};
///
/// let mut status = BackendStatus::new(BackendState::BackingOff);
/// status.since = Some(SystemTime::now());
/// status.last_error = Some("the connection was refused".to_owned());
/// assert_eq!(status.n_restarts, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendStatus {
    /// The state.
    pub state: BackendState,
    /// The time at which the backend became ready, or ceased to be. Attempts to connect do not change it.
    pub since: Option<SystemTime>,
    /// The earliest time of the next attempt to connect.
    pub next_attempt: Option<SystemTime>,
    /// The last error, also after a later success. It must not contain secrets.
    pub last_error: Option<String>,
    /// The number of connections after the first one.
    pub n_restarts: u64,
    /// The number of running calls whose result the backend collects later, such as tasks of MCP.
    pub n_tasks: u64,
}

impl BackendStatus {
    /// Creates a status without a history.
    #[must_use]
    pub fn new(state: BackendState) -> Self {
        Self { state, since: None, next_attempt: None, last_error: None, n_restarts: 0, n_tasks: 0 }
    }
}

/// The counts of the calls of a backend since it was registered.
///
/// `Backends` of the crate `toolkit-backends` reports it.
///
/// # Examples
///
/// ```
/// use toolkit::backend::BackendCalls;
///
/// /// Returns the share of calls that failed.
/// fn error_rate(calls: &BackendCalls) -> f64 {
///     let n_errors: u64 = calls.errors.iter().map(|(_, n)| n).sum();
///     n_errors as f64 / calls.n_ended.max(1) as f64
/// }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendCalls {
    /// The number of running calls, including those that wait for a permit.
    pub n_running: u64,
    /// The number of calls that have ended.
    pub n_ended: u64,
    /// The number of errors by kind. A call that is dropped counts as
    /// [`Cancelled`](crate::call::ErrorKind::Cancelled).
    pub errors: Vec<(ErrorKind, u64)>,
    /// The duration of all calls that have ended.
    pub duration: Duration,
    /// The number of calls that took at most a time, for growing times.
    pub histogram: Vec<(Duration, u64)>,
}
