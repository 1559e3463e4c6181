//! Errors of backends.

use std::fmt;

use toolkit::call::ToolError;
use toolkit::tool::NameError;

/// A backend that failed to start, stop, list its tools or pass its health check.
///
/// # Examples
///
/// A host starts its backends and reports those that are unavailable:
///
/// ```
/// use toolkit_backends::{BackendError, Backends, LocalBackend};
///
/// /// Describes a failure in one line of a log.
/// fn line(failure: &BackendError) -> String {
///     let later = if failure.is_pending { "; still waiting" } else { "" };
///     format!("backend {} failed: {}{later}", failure.backend, failure.error.message())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
/// let failures: Vec<String> = backends.start().await.iter().map(line).collect();
/// assert!(failures.is_empty(), "{failures:?}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct BackendError {
    /// The name of the backend.
    pub backend: String,
    /// The error.
    pub error: ToolError,
    /// True while the request is still running in the background;
    /// [`Backends::changed`](crate::Backends::changed) resolves when it is done.
    pub is_pending: bool,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.backend, self.error)
    }
}

impl std::error::Error for BackendError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// The error of registering a backend.
///
/// # Examples
///
/// ```
/// use toolkit_backends::{Backends, LocalBackend, RegisterError};
///
/// let backends = Backends::new();
/// backends.register(LocalBackend::new("plugins"))?;
///
/// let error = backends.register(LocalBackend::new("plugins")).unwrap_err();
/// assert_eq!(error, RegisterError::Taken("plugins".to_owned()));
/// assert_eq!(error.to_string(), "another backend has the name `plugins`");
/// # Ok::<(), RegisterError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The name of the backend is not a valid namespace.
    Name(NameError),
    /// Another backend has this name.
    Taken(String),
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RegisterError::Name(invalid) => write!(f, "the name of a backend must be a namespace: {invalid}"),
            RegisterError::Taken(name) => write!(f, "another backend has the name `{name}`"),
        }
    }
}

impl std::error::Error for RegisterError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            RegisterError::Name(invalid) => Some(invalid),
            RegisterError::Taken(_) => None,
        }
    }
}
