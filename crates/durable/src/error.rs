//! Errors, and the ids of runs in them.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use toolkit::ToolError;
use toolkit::call::BoxError;

/// The error of a worker or client of durable runs.
///
/// # Examples
///
/// ```
/// use toolkit_durable::{Connect, DurableError};
///
/// let error = Connect::new("mysql://db.example.org/orders").unwrap_err();
/// assert!(matches!(error, DurableError::Url));
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DurableError {
    /// The text is neither the URL of a Postgres database nor the path of a file.
    Url,
    /// The URL is that of a Postgres database, and this program was built without the feature `postgres`.
    NoPostgres,
    /// The text is not the id of a run.
    ///
    /// ```
    /// use toolkit_durable::RunId;
    ///
    /// let error = RunId::new("").unwrap_err();
    /// assert_eq!(error.to_string(), "not the id of a run: expected 1 to 128 letters, digits, and `-`, `_`, `.` or `:`");
    /// ```
    RunId,
    /// The name of the application is invalid.
    Application(String),
    /// Another process has locked the file for longer than transactions take. The operation may be repeated.
    #[non_exhaustive]
    Locked {
        /// The file.
        path: PathBuf,
        /// The error of SQLite.
        source: BoxError,
    },
    /// The file does not exist, has no tables yet, or was removed. A worker creates it when it starts.
    #[non_exhaustive]
    Missing {
        /// The file.
        path: PathBuf,
        /// Which of them, and the remedy.
        reason: &'static str,
    },
    /// What was recorded cannot be read: it is damaged, or that of another program or version.
    #[non_exhaustive]
    Damaged {
        /// What is damaged, and the remedy.
        message: String,
        /// The error of SQLite or of the JSON, if there is one.
        source: Option<BoxError>,
    },
    /// The file or the database cannot be reached, or rejects a statement.
    #[non_exhaustive]
    Database {
        /// The failed operation, with its cause.
        message: String,
        /// The error of the operating system, of SQLite or of the database, if there is one.
        source: Option<BoxError>,
    },
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
    /// The step does not wait for such a decision, or is decided already, or the value of the decision is invalid.
    NotWaiting(String),
    /// The run cannot be changed in this way in its state.
    #[non_exhaustive]
    Unchanged {
        /// The id of the run.
        run: RunId,
        /// The name of its state; see [`RunState::name`](crate::RunState::name).
        state: &'static str,
        /// The change, such as `resumed`.
        change: &'static str,
        /// The runs that can be changed so.
        expected: &'static str,
    },
}

impl DurableError {
    pub(crate) fn engine(error: impl Into<BoxError>) -> Self {
        let source = error.into();
        Self::Database { message: source.to_string(), source: Some(source) }
    }

    pub(crate) fn database(message: String, source: impl Into<BoxError>) -> Self {
        Self::Database { message, source: Some(source.into()) }
    }

    pub(crate) fn damaged(message: String, source: impl Into<BoxError>) -> Self {
        Self::Damaged { message, source: Some(source.into()) }
    }
}

impl fmt::Display for DurableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Url => f.write_str(
                "not a place for runs: expected a file that ends in .db, such as runs.db, any file after `sqlite:`, or \
                 postgres://USER@HOST:PORT/DATABASE",
            ),
            Self::NoPostgres => f.write_str(
                "this program was built without Postgres: enable the feature `postgres` of toolkit-durable or toolkit-cli",
            ),
            Self::RunId => {
                f.write_str("not the id of a run: expected 1 to 128 letters, digits, and `-`, `_`, `.` or `:`")
            }
            Self::Application(name) => write!(
                f,
                "`{name}` is not the name of an application: expected 3 to 256 lowercase letters, digits, hyphens and \
                 underscores"
            ),
            Self::Locked { path, .. } => write!(f, "another process has locked {} for too long", path.display()),
            Self::Missing { path, reason } => write!(f, "{} {reason}", path.display()),
            Self::Damaged { message, .. } => f.write_str(message),
            Self::Database { message, .. } => write!(f, "the database of the runs failed: {message}"),
            Self::OtherInput { run, recorded, given } => {
                write!(
                    f,
                    "the run `{run}` exists with another chain: its hash is {recorded}, that of the given one {given}; give \
                     the new run another id"
                )
            }
            Self::UnknownRun(run) => write!(f, "there is no run `{run}`"),
            Self::Cancelled(run) => write!(f, "the run `{run}` was cancelled"),
            Self::Rejected(error) => error.fmt(f),
            Self::Parked(run) => write!(f, "the run `{run}` was given up, since its workers died too often"),
            Self::NotWaiting(reason) => f.write_str(reason),
            Self::Unchanged { run, state, change, expected } => {
                write!(f, "the run `{run}` is {state} and cannot be {change}: expected {expected}")
            }
        }
    }
}

impl Error for DurableError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Locked { source, .. } => Some(&**source),
            Self::Damaged { source, .. } | Self::Database { source, .. } => match source {
                Some(source) => Some(&**source),
                None => None,
            },
            Self::Rejected(error) => error.source(),
            _ => None,
        }
    }
}

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
/// # Ok::<(), toolkit_durable::DurableError>(())
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
    pub fn new(id: impl Into<Arc<str>>) -> Result<Self, DurableError> {
        let id = id.into();
        let is_valid = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
        match (1..=MAX_ID).contains(&id.len()) && id.bytes().all(is_valid) {
            true => Ok(Self(id)),
            false => Err(DurableError::RunId),
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

    /// Returns the id of a recorded run.
    pub(crate) fn recorded(id: String) -> Self {
        Self(id.into())
    }

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl Serialize for RunId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RunId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
