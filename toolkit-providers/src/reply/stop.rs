//! The reason why a model stopped.

use std::fmt;

/// The reason why a model stopped.
///
/// A reply may contain calls for any reason. Each call has a result, but runs only if the reply is complete:
/// not after [`Truncated`](Self::Truncated) and [`Failed`](Self::Failed).
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
/// assert!(!StopReason::Truncated.is_complete());
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
    /// The model or a filter of the provider refused to reply, with the explanation of the provider.
    Refused(String),
    /// The model wrote a call that the provider cannot read, with the explanation of the provider. Ask again.
    Malformed(String),
    /// The provider reports an error in place of a reply, or in the middle of one.
    Failed(String),
    /// Another reason, in the words of the provider.
    Other(String),
}

impl StopReason {
    /// Returns true if calls of the reply may run.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        !matches!(self, Self::Truncated | Self::Failed(_))
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
