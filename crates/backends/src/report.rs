//! What a registry tells operators about a backend.

use toolkit::backend::{BackendCalls, BackendStatus};
use toolkit::tool::BackendKind;

/// A backend and what is known about it; see [`Backends::report`](crate::Backends::report).
///
/// # Examples
///
/// ```
/// use toolkit::backend::BackendState;
/// use toolkit_backends::{Backends, LocalBackend};
///
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let report = &backends.report()[0];
/// assert_eq!((&*report.name, report.status.state), ("plugins", BackendState::Ready));
/// assert_eq!(report.calls.n_ended, 0);
/// # Ok::<(), toolkit_backends::RegisterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackendReport {
    /// The name of the backend.
    pub name: String,
    /// The kind of the backend.
    pub kind: BackendKind,
    /// The state of its connection.
    pub status: BackendStatus,
    /// The counts of its calls.
    pub calls: BackendCalls,
}
