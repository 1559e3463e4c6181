//! What is recorded of a run.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolkit::call::ask::{Form, Question};
use toolkit::chain::Chain;
use toolkit::{RunResult, ToolError};

use crate::error::DurableError;

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

    pub(crate) fn shared(&self) -> Arc<str> {
        Arc::clone(&self.0)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The input of a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    pub(crate) chain: Chain,
    /// The hash of the chain.
    pub(crate) hash: String,
}

impl Input {
    pub(crate) fn new(chain: Chain) -> Self {
        let json = serde_json::to_vec(&chain).expect("a chain has no map with other keys than strings");
        let hash = HEXLOWER.encode(&Sha256::digest(&json)[..HASH_LEN]);
        Self { chain, hash }
    }
}

const HASH_LEN: usize = 16;

/// The recorded end of one attempt to run a step.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Attempt {
    /// The tool returned.
    Done { result: Result<RunResult, ToolError>, duration: Duration },
    /// The step waits for a decision.
    Paused(Pause),
}

/// The reason why a step waits for a [`Decision`](crate::Decision).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Pause {
    /// The tool, or the approval of its call, asks the user.
    #[non_exhaustive]
    Question {
        /// The text for the user.
        message: String,
        /// The JSON Schema of the form, if the question has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        form: Option<Value>,
        /// The URL to open, if the question has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A decision outside of the run is open ([`ErrorKind::Pending`](toolkit::call::ErrorKind::Pending)).
    #[non_exhaustive]
    Pending {
        /// The message of the tool.
        message: String,
    },
    /// The worker died while the tool ran, or immediately before: the tool may have had its effect.
    OutcomeUnknown,
    /// The value of [`Decision::Skip`](crate::Decision::Skip) does not match the output schema of the tool.
    #[non_exhaustive]
    InvalidValue {
        /// The violations.
        message: String,
    },
}

impl Pause {
    pub(crate) fn from_question(question: &Question) -> Self {
        Self::Question {
            message: question.message().to_owned(),
            form: question.form().map(Form::schema).cloned(),
            url: question.url().map(str::to_owned),
        }
    }

    /// Returns true if this is the question.
    pub(crate) fn asks(&self, question: &Question) -> bool {
        *self == Self::from_question(question)
    }
}
