//! Errors.

use std::fmt;

use toolkit::ToolError;

use crate::run_id::RunId;

/// The error of a worker or client of durable runs.
///
/// # Examples
///
/// ```
/// use toolkit_durable::{Connect, DurableError};
///
/// let error = Connect::new("orders").unwrap_err();
/// assert!(matches!(error, DurableError::Url));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DurableError {
    /// The text is not the URL of a Postgres database.
    Url,
    /// The database cannot be reached, or rejects a statement.
    Database(String),
    /// The run exists with another chain. Contains the hashes of the recorded and the given one.
    OtherInput {
        /// The id of the run.
        run: RunId,
        /// The hash of the recorded chain.
        recorded: String,
        /// The hash of the chain that was to be started.
        given: String,
    },
    /// There is no run with this id.
    UnknownRun(RunId),
    /// The run was cancelled.
    Cancelled(RunId),
    /// The worker rejected the chain.
    Rejected(ToolError),
    /// The run was given up after its workers died too often.
    Parked(RunId),
    /// The step does not wait for such a decision.
    NotWaiting(String),
}

impl DurableError {
    pub(crate) fn engine<E: fmt::Display>(error: E) -> Self {
        Self::Database(error.to_string())
    }
}

impl fmt::Display for DurableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => f.write_str("not the URL of a Postgres database: expected postgres://USER@HOST:PORT/DATABASE"),
            Self::Database(error) => write!(f, "the database of the runs failed: {error}"),
            Self::OtherInput { run, recorded, given } => {
                write!(
                    f,
                    "the run `{run}` exists with another chain: its hash is {recorded}, that of the given one {given}"
                )
            }
            Self::UnknownRun(run) => write!(f, "there is no run `{run}`"),
            Self::Cancelled(run) => write!(f, "the run `{run}` was cancelled"),
            Self::Rejected(error) => error.fmt(f),
            Self::Parked(run) => write!(f, "the run `{run}` was given up, since its workers died too often"),
            Self::NotWaiting(reason) => f.write_str(reason),
        }
    }
}

impl std::error::Error for DurableError {}
