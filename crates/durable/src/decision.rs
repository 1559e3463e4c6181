//! Decisions about steps that wait.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::record::Pause;

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
            Self::Retry | Self::Fail => !matches!(pause, Pause::Question { .. }),
        }
    }
}
