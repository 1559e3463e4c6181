//! The record of a run: what it has, the places of its entries, and decisions about steps that wait.
//!
//! An entry has the step, the attempt and its kind as its place, so that it does not depend on the order in which parallel steps
//! end.

use std::time::Duration;

use data_encoding::HEXLOWER;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use toolkit::call::ask::{Form, Question};
use toolkit::schema::Schema;
use toolkit::{RunResult, ToolError};
use toolkit_backends::chain::Chain;

use crate::error::RunId;

/// The input of a run.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunInput {
    pub(crate) chain: Chain,
    /// The hash of the chain.
    pub(crate) hash: String,
}

impl RunInput {
    pub(crate) fn new(chain: Chain) -> Self {
        let mut json = serde_json::to_value(&chain).expect("a chain has no map with other keys than strings");
        json.sort_all_objects();
        let hash = HEXLOWER.encode(&Sha256::digest(json.to_string())[..HASH_LEN]);
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
/// use toolkit_durable::Pause;
///
/// /// Returns the text for the person who decides.
/// fn text(pause: &Pause) -> String {
///     format!("{pause:?}: {}?", pause.decisions().join(" or "))
/// }
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
    /// The tool has failed, and is called again at a time.
    #[non_exhaustive]
    Backoff {
        /// The time (RFC 3339).
        time: Timestamp,
        /// The error of the last call.
        error: String,
    },
    /// The run of a chain, which the tool has started, has to end; see [`run_child`](crate::run_child).
    #[non_exhaustive]
    Child {
        /// The id of the run.
        run: RunId,
    },
    /// The worker died while the tool ran, or immediately before: the tool may have had its effect.
    #[non_exhaustive]
    OutcomeUnknown {
        /// The JSON Schema of the result, if the tool has one. The value of [`Decision::Skip`](crate::Decision::Skip) matches it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
    /// The value of [`Decision::Skip`](crate::Decision::Skip) does not match the output schema of the tool.
    #[non_exhaustive]
    InvalidValue {
        /// The violations.
        message: String,
        /// The schema.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Value>,
    },
}

/// The field of the form by which a call is approved; see `toolkit_tower::Approval`.
pub(crate) const APPROVE: &str = "approve";

impl Pause {
    pub(crate) fn from_question(question: &Question) -> Self {
        Self::Question {
            message: question.message().to_owned(),
            form: question.form().map(Form::schema).cloned(),
            url: question.url().map(str::to_owned),
        }
    }

    /// Returns the decisions that end the wait, as `chain decide` writes them: `JSON` stands for a value. A step that waits
    /// for a time or a run has none.
    #[must_use]
    pub fn decisions(&self) -> &'static [&'static str] {
        match self {
            Self::Question { form: Some(form), .. } if form["properties"].get(APPROVE).is_none() => {
                &["answer=JSON", "deny"]
            }
            Self::Question { form: Some(_), .. } => &["approve", "deny", "answer=JSON"],
            Self::Question { form: None, .. } => &["approve", "deny"],
            Self::Pending { .. } => &["retry", "fail"],
            Self::OutcomeUnknown { .. } | Self::InvalidValue { .. } => &["retry", "skip=JSON", "fail"],
            Self::Until { .. } | Self::Backoff { .. } | Self::Child { .. } => &[],
        }
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
    /// Returns true if a step that waits for this reason can be decided this way; see [`Pause::decisions`].
    #[must_use]
    pub fn fits(&self, pause: &Pause) -> bool {
        pause.decisions().contains(&self.spelling())
    }

    /// Returns the decision as `chain decide` writes it, with `JSON` for a value.
    fn spelling(&self) -> &'static str {
        match self {
            Self::Approve => "approve",
            Self::Deny => "deny",
            Self::Answer(_) => "answer=JSON",
            Self::Retry => "retry",
            Self::Skip(_) => "skip=JSON",
            Self::Fail => "fail",
        }
    }

    /// Checks the decision about a step, as its worker will. The error names what the step does, such as that it `does not
    /// wait for…`.
    pub(crate) fn check(&self, pause: &Pause) -> Result<(), String> {
        let expected = pause.decisions().join(", ");
        if let Pause::Until { time } | Pause::Backoff { time, .. } = pause {
            return Err(format!("waits until {time}, and for no decision"));
        }
        if let Pause::Child { run } = pause {
            return Err(format!("waits for the run `{run}`, and for no decision"));
        }
        if !self.fits(pause) {
            return Err(format!("does not wait for the decision `{}`: expected one of {expected}", self.spelling()));
        }
        let (schema, value) = match (self, pause) {
            (
                Self::Skip(value),
                Pause::OutcomeUnknown { output: Some(schema) } | Pause::InvalidValue { output: Some(schema), .. },
            ) => (schema, value.clone()),
            (Self::Answer(content), Pause::Question { form: Some(form), .. }) => (form, without_nulls(content.clone())),
            _ => return Ok(()),
        };
        // A schema that this program cannot read is that of the worker, which checks the value.
        let Ok(schema) = Schema::from_value(schema.clone()) else { return Ok(()) };
        schema.validate(&value).map_err(|violations| {
            format!("does not accept this value of `{}`: {violations}; expected one of {expected}", self.spelling())
        })
    }
}

/// Removes empty fields, which some forms contain.
fn without_nulls(mut content: Value) -> Value {
    if let Value::Object(fields) = &mut content {
        fields.retain(|_, value| !value.is_null());
    }
    content
}

/// An attempt to run a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct AttemptPlace {
    pub(crate) step: usize,
    /// The number of the attempt, from 0.
    pub(crate) attempt: usize,
}

toolkit::named! {
    /// An entry of an attempt, in the order in which they are recorded.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub(crate) enum EntryKind {
        /// The execution that begins a guarded attempt.
        Guard = "guard",
        /// An [`Attempt`].
        Result = "result",
        /// The time until which the step waits for a decision.
        Deadline = "deadline",
        /// A [`Decision`], or null if there was none in time.
        Decision = "decision",
        /// The step has failed, and a person lets it run again.
        Retry = "retry",
    }
}

impl Attempt {
    /// Returns the recorded name of the state of the step.
    pub(crate) fn state(&self) -> &'static str {
        match self {
            Self::Done { result: Ok(_), .. } => SUCCEEDED,
            Self::Done { result: Err(_), .. } => FAILED,
            Self::Paused(_) => WAITING,
        }
    }
}

pub(crate) const SUCCEEDED: &str = "succeeded";
pub(crate) const FAILED: &str = "failed";
pub(crate) const WAITING: &str = "waiting";
