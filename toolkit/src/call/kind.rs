//! What can go wrong with a call, and at which stage.

/// What went wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool has that name or id.
    UnknownTool,
    /// Several tools have that name, in different namespaces.
    AmbiguousTool,
    /// The tool is described here, and nothing here runs it.
    NoBackend,
    /// What runs the tool cannot be reached, or is switched off.
    Unavailable,
    /// What runs the tool does not let this program in.
    Unauthorized,
    /// The caller lacks what the tool requires; [`ToolError::missing`](super::ToolError::missing) has all of it.
    MissingRequirements,
    /// Somebody who was asked does not want the call to be made.
    Denied,
    /// The arguments are longer than the dispatcher takes.
    TooLarge,
    /// The arguments are not JSON.
    MalformedJson,
    /// The input schema refuses the arguments; [`ToolError::violations`](super::ToolError::violations) has every reason.
    InvalidArguments,
    /// As many calls run, or were made in a time, as may; try again later.
    Overloaded,
    /// The tool says that it failed, and its message says why.
    Failed,
    /// The tool failed with an error that it did not expect.
    Internal,
    /// The tool panicked.
    Panicked,
    /// The tool took longer than it may.
    TimedOut,
    /// The caller gave up.
    Cancelled,
    /// The tool is asynchronous or needs a thread of its own, and the call was made without a runtime.
    NeedsRuntime,
    /// What runs the tool answered with something that is no result.
    InvalidAnswer,
    /// The tool returned more than the dispatcher keeps.
    ResultTooLarge,
    /// The tool broke its own output schema; what it returned is withheld.
    InvalidOutput,
}

impl ErrorKind {
    /// Its name in `snake_case`, for logs and metrics: few names, which stay the same.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::AmbiguousTool => "ambiguous_tool",
            Self::NoBackend => "no_backend",
            Self::Unavailable => "unavailable",
            Self::Unauthorized => "unauthorized",
            Self::MissingRequirements => "missing_requirements",
            Self::Denied => "denied",
            Self::TooLarge => "too_large",
            Self::MalformedJson => "malformed_json",
            Self::InvalidArguments => "invalid_arguments",
            Self::Overloaded => "overloaded",
            Self::Failed => "failed",
            Self::Internal => "internal",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NeedsRuntime => "needs_runtime",
            Self::InvalidAnswer => "invalid_answer",
            Self::ResultTooLarge => "result_too_large",
            Self::InvalidOutput => "invalid_output",
        }
    }

    /// The stage that refuses or fails so.
    #[must_use]
    pub fn stage(self) -> Stage {
        match self {
            ErrorKind::UnknownTool | ErrorKind::AmbiguousTool => Stage::Resolve,
            ErrorKind::NoBackend => Stage::Select,
            ErrorKind::MissingRequirements => Stage::Require,
            ErrorKind::TooLarge | ErrorKind::MalformedJson | ErrorKind::InvalidArguments => Stage::ValidateInput,
            ErrorKind::Denied => Stage::Approve,
            ErrorKind::InvalidAnswer => Stage::Normalize,
            ErrorKind::ResultTooLarge | ErrorKind::InvalidOutput => Stage::ValidateOutput,
            _ => Stage::Invoke,
        }
    }
}

/// The stage of the call that refused or failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// Finding the tool.
    Resolve,
    /// Finding what runs it.
    Select,
    /// Looking for what the tool requires.
    Require,
    /// Checking the arguments.
    ValidateInput,
    /// Asking whether the call may be made.
    Approve,
    /// Waiting for a place, or running the tool.
    Invoke,
    /// Reading what came back.
    Normalize,
    /// Checking the result.
    ValidateOutput,
}
