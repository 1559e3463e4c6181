//! The ids of runs.

use std::fmt;
use std::sync::Arc;

/// The id of a run: 1 to 128 letters, digits, and `-`, `_`, `.` or `:`.
///
/// # Examples
///
/// ```
/// use toolkit_durable::RunId;
///
/// let id = RunId::new("order-42")?;
/// assert_eq!(id.to_string(), "order-42");
/// assert!(RunId::new("order 42").is_err());
/// # Ok::<(), toolkit_durable::RunIdError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunId(Arc<str>);

const MAX_ID: usize = 128;

impl RunId {
    /// Creates an id.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is empty, too long, or has other characters.
    pub fn new(id: impl Into<Arc<str>>) -> Result<Self, RunIdError> {
        let id = id.into();
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        match (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_valid) {
            true => Ok(Self(id)),
            false => Err(RunIdError(())),
        }
    }

    /// Creates a random id.
    #[must_use]
    pub fn random() -> Self {
        Self(uuid::Uuid::new_v4().to_string().into())
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The error of a text that is not the id of a run.
///
/// # Examples
///
/// ```
/// use toolkit_durable::RunId;
///
/// let error = RunId::new("").unwrap_err();
/// assert_eq!(error.to_string(), "not the id of a run: expected 1 to 128 letters, digits, and `-`, `_`, `.` or `:`");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunIdError(());

impl fmt::Display for RunIdError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not the id of a run: expected 1 to 128 letters, digits, and `-`, `_`, `.` or `:`")
    }
}

impl std::error::Error for RunIdError {}
