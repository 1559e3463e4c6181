//! The record of a run, and decisions about steps that wait.

use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolkit::call::ask::{Form, Question};
use toolkit::{RunResult, ToolError};
use toolkit_backends::chain::Chain;

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
///
/// # Examples
///
/// ```
/// use toolkit_durable::{Decision, Pause};
///
/// assert!(Decision::Retry.fits(&Pause::OutcomeUnknown));
/// assert!(!Decision::Approve.fits(&Pause::OutcomeUnknown));
/// ```
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
    /// The tool is called later, without a decision; see [`Step::sleep`](toolkit_backends::chain::Step::sleep).
    #[non_exhaustive]
    Until {
        /// The time (RFC 3339).
        time: Timestamp,
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

/// The decision about a step that waits.
///
/// | the step waits for | decisions |
/// |---|---|
/// | the answer to a [question](Pause::Question), such as one for approval | [`Approve`](Self::Approve), [`Deny`](Self::Deny), [`Answer`](Self::Answer) |
/// | a decision [outside](Pause::Pending) of the run | [`Retry`](Self::Retry), [`Fail`](Self::Fail) |
/// | a person, as its [outcome is unknown](Pause::OutcomeUnknown) | [`Retry`](Self::Retry), [`Skip`](Self::Skip), [`Fail`](Self::Fail) |
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolkit_durable::Decision;
///
/// assert_eq!(serde_json::to_value(Decision::Skip(json!(3)))?, json!({ "skip": 3 }));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Decision {
    /// Approves the call, or opens the URL of the question.
    Approve,
    /// Declines the question.
    Deny,
    /// Answers the question with the content of its form.
    Answer(Value),
    /// Runs the tool again.
    Retry,
    /// Continues with this value as the result of the step, without running the tool again.
    Skip(Value),
    /// Ends the step with an error.
    Fail,
}

impl Decision {
    /// Returns true if a step that waits for this reason can be decided this way.
    #[must_use]
    pub fn fits(&self, pause: &Pause) -> bool {
        match self {
            Self::Approve | Self::Deny | Self::Answer(_) => matches!(pause, Pause::Question { .. }),
            Self::Skip(_) => matches!(pause, Pause::OutcomeUnknown | Pause::InvalidValue { .. }),
            Self::Retry | Self::Fail => !matches!(pause, Pause::Question { .. } | Pause::Until { .. }),
        }
    }
}
