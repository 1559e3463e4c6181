//! The reason why a model stopped; each provider maps its own words to one.

use std::borrow::Cow;
use std::fmt;

use serde_json::{Map, Value};

/// The reason why a model stopped.
///
/// A reply may contain calls for any reason. Each call has a result, but runs only after
/// [`ToolCalls`](Self::ToolCalls).
///
/// ```
/// use toolkit_providers::reply::StopReason;
///
/// fn next_step(stop: &StopReason) -> &'static str {
///     match stop {
///         StopReason::ToolCalls | StopReason::Paused => "send another request",
///         StopReason::End => "show the text",
///         _ => "report the reason",
///     }
/// }
///
/// assert_eq!(next_step(&StopReason::Paused), "send another request");
/// assert_eq!(StopReason::Refused("policy".to_owned()).to_string(), "refused: policy");
/// assert!(!StopReason::Truncated.runs_calls());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// The model waits for the results of its calls.
    ToolCalls,
    /// The reply is the final one.
    End,
    /// The reply ended at a limit on tokens, or its stream ended early. Its calls may be incomplete, so none runs.
    Truncated,
    /// The provider interrupted a long turn of its own tools. Send the same messages again to continue.
    Paused,
    /// The model or a filter of the provider refused to reply, with the explanation of the provider. No call runs, even
    /// if the reply is also truncated.
    Refused(String),
    /// The model wrote a call that the provider cannot read, with the explanation of the provider. Ask again.
    Malformed(String),
    /// The provider reports an error in place of a reply, or in the middle of one.
    Failed(String),
    /// Another reason, in the words of the provider, such as one that is newer than this library, or the status of a
    /// response that is not complete yet. No call runs.
    Other(String),
}

impl StopReason {
    /// Returns true if the calls of the reply run.
    #[must_use]
    pub fn runs_calls(&self) -> bool {
        matches!(self, Self::ToolCalls | Self::End)
    }

    /// Returns the reason of a reply with an error.
    pub(crate) fn failed(error: &Value) -> Self {
        Self::Failed(error["message"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns the reason for the model why no call of the reply ran.
    pub(crate) fn why_no_call_runs(&self) -> Option<&'static str> {
        Some(match self {
            Self::ToolCalls | Self::End => return None,
            Self::Truncated => {
                "the reply ended before this call was complete, so none of its calls ran; \
                 repeat the call, with shorter arguments if they are long"
            }
            Self::Paused => "the provider paused the turn, so none of its calls ran; repeat the call",
            Self::Refused(_) => "the reply was refused or filtered, so none of its calls ran",
            Self::Malformed(_) => {
                "the provider could not read a call of the reply, so none of its calls ran; repeat the call"
            }
            Self::Failed(_) => {
                "the reply ended with an error of the provider, so none of its calls ran; repeat the call"
            }
            Self::Other(_) => "the provider ended the reply for another reason than its calls, so none of them ran",
        })
    }
}

/// Returns the reason that a field states, or an empty text if it states none.
pub(crate) fn stated(field: Option<&Value>) -> Cow<'_, str> {
    match field {
        None | Some(Value::Null) => Cow::Borrowed(""),
        // Some servers write it as text in each event but the last.
        Some(Value::String(reason)) if reason == "null" => Cow::Borrowed(""),
        Some(Value::String(reason)) => Cow::Borrowed(reason),
        Some(other) => Cow::Owned(other.to_string()),
    }
}

/// Removes the reason to stop from an event if it states none, or if the reply already has one after which no call runs.
pub(crate) fn keep_stop(
    before: Option<&Value>,
    event: &mut Map<String, Value>,
    field: &str,
    read: fn(&str) -> StopReason,
) {
    let before = stated(before);
    let stays = !before.is_empty() && !read(&before).runs_calls();
    if stays || stated(event.get(field)).is_empty() {
        event.shift_remove(field);
    }
}

impl fmt::Display for StopReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolCalls => f.write_str("tool calls"),
            Self::End => f.write_str("the end of the reply"),
            Self::Truncated => f.write_str("the reply is truncated"),
            Self::Paused => f.write_str("the provider paused the turn"),
            Self::Refused(why) if why.is_empty() => f.write_str("refused"),
            Self::Refused(why) => write!(f, "refused: {why}"),
            Self::Malformed(why) => write!(f, "a malformed call: {why}"),
            Self::Failed(why) => write!(f, "an error of the provider: {why}"),
            Self::Other(why) => f.write_str(why),
        }
    }
}
