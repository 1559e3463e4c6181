//! Kinds of errors, and the stages of a call.

/// The kind of a [`ToolError`](super::ToolError).
///
/// # Examples
///
/// ```
/// use toolkit::call::ErrorKind;
/// use toolkit::{Dispatcher, catalog, tool};
///
/// /// Doubles a number.
/// #[tool]
/// fn double(n: i64) -> i64 {
///     n * 2
/// }
///
/// let dispatcher = Dispatcher::new(catalog![double]?)?;
/// let kind = |arguments| dispatcher.call_sync("double", arguments).unwrap_err().kind();
/// assert_eq!(kind(r#"{"n": "#), ErrorKind::MalformedJson);
/// assert_eq!(kind(r#"{"n": []}"#), ErrorKind::InvalidArguments);
/// assert_eq!(ErrorKind::InvalidArguments.name(), "invalid_arguments");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No tool has this name or id.
    UnknownTool,
    /// Several tools in different namespaces have this name.
    AmbiguousTool,
    /// The catalog describes the tool, and no backend runs it.
    NoBackend,
    /// The backend of the tool is unreachable or disabled. The tool has not started.
    Unavailable,
    /// The connection to the backend was lost during the call, and the tool may have run. Repeating the call may repeat
    /// its effects.
    OutcomeUnknown,
    /// The backend of the tool rejects the credentials of this program.
    Unauthorized,
    /// The caller lacks credentials that the tool requires; see [`ToolError::missing`](super::ToolError::missing).
    MissingRequirements,
    /// The call was not approved.
    Denied,
    /// A decision about the call is open, and the tool has not started; the call may be made again later.
    Pending,
    /// The arguments exceed the size limit of the dispatcher or of the backend.
    TooLarge,
    /// The arguments are not JSON.
    MalformedJson,
    /// The arguments do not match the input schema; see [`ToolError::violations`](super::ToolError::violations).
    InvalidArguments,
    /// A concurrency or rate limit is reached; the call may succeed later.
    Overloaded,
    /// The tool failed with a message for the model.
    Failed,
    /// The user declined a question of the tool, or closed it without an answer.
    Declined,
    /// The tool asks the user, which the client does not support.
    CannotAsk,
    /// The tool failed with an unexpected error.
    Internal,
    /// The tool panicked.
    Panicked,
    /// The tool exceeded its timeout.
    TimedOut,
    /// The caller cancelled the call.
    Cancelled,
    /// The tool is asynchronous or blocking, and the call was made without a runtime.
    NeedsRuntime,
    /// The backend returned a malformed result.
    InvalidResponse,
    /// The result exceeds the size limit of the dispatcher.
    ResultTooLarge,
    /// The result does not match the output schema and is withheld.
    InvalidOutput,
}

impl ErrorKind {
    /// All kinds.
    const ALL: [Self; 24] = [
        Self::UnknownTool,
        Self::AmbiguousTool,
        Self::NoBackend,
        Self::Unavailable,
        Self::OutcomeUnknown,
        Self::Unauthorized,
        Self::MissingRequirements,
        Self::Denied,
        Self::Pending,
        Self::TooLarge,
        Self::MalformedJson,
        Self::InvalidArguments,
        Self::Overloaded,
        Self::Failed,
        Self::Declined,
        Self::CannotAsk,
        Self::Internal,
        Self::Panicked,
        Self::TimedOut,
        Self::Cancelled,
        Self::NeedsRuntime,
        Self::InvalidResponse,
        Self::ResultTooLarge,
        Self::InvalidOutput,
    ];

    /// Returns the name in `snake_case`, for logs and metrics. The names are stable.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::UnknownTool => "unknown_tool",
            Self::AmbiguousTool => "ambiguous_tool",
            Self::NoBackend => "no_backend",
            Self::Unavailable => "unavailable",
            Self::OutcomeUnknown => "outcome_unknown",
            Self::Unauthorized => "unauthorized",
            Self::MissingRequirements => "missing_requirements",
            Self::Denied => "denied",
            Self::Pending => "pending",

            Self::TooLarge => "too_large",
            Self::MalformedJson => "malformed_json",
            Self::InvalidArguments => "invalid_arguments",
            Self::Overloaded => "overloaded",
            Self::Failed => "failed",
            Self::Declined => "declined",
            Self::CannotAsk => "cannot_ask",
            Self::Internal => "internal",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::NeedsRuntime => "needs_runtime",
            Self::InvalidResponse => "invalid_response",
            Self::ResultTooLarge => "result_too_large",
            Self::InvalidOutput => "invalid_output",
        }
    }

    /// Returns the kind with this [name](Self::name).
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::call::ErrorKind;
    ///
    /// assert_eq!(ErrorKind::from_name("timed_out"), Some(ErrorKind::TimedOut));
    /// assert_eq!(ErrorKind::from_name("out_of_tea"), None);
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Returns the stage at which errors of this kind occur.
    #[must_use]
    pub fn stage(self) -> Stage {
        match self {
            ErrorKind::UnknownTool | ErrorKind::AmbiguousTool => Stage::Resolve,
            ErrorKind::NoBackend => Stage::Select,
            ErrorKind::MissingRequirements => Stage::Require,
            ErrorKind::TooLarge | ErrorKind::MalformedJson | ErrorKind::InvalidArguments => Stage::ValidateInput,
            ErrorKind::Denied | ErrorKind::Pending => Stage::Approve,
            ErrorKind::InvalidResponse => Stage::Normalize,
            ErrorKind::ResultTooLarge | ErrorKind::InvalidOutput => Stage::ValidateOutput,
            _ => Stage::Invoke,
        }
    }

    /// Returns true if the tool may have started when a call fails with an error of this kind, so that the call may have
    /// had effects.
    ///
    /// A tool that itself fails with one of the kinds for which this is false has to do so before its first effect.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::call::ErrorKind;
    ///
    /// assert!(!ErrorKind::InvalidArguments.may_have_started());
    /// assert!(!ErrorKind::Unavailable.may_have_started());
    /// assert!(ErrorKind::OutcomeUnknown.may_have_started());
    /// assert!(ErrorKind::TimedOut.may_have_started());
    /// ```
    #[must_use]
    pub fn may_have_started(self) -> bool {
        match self {
            Self::Unavailable | Self::Unauthorized | Self::Overloaded | Self::NeedsRuntime => false,
            kind => matches!(kind.stage(), Stage::Invoke | Stage::Normalize | Stage::ValidateOutput),
        }
    }
}

/// A stage of a call.
///
/// The variants are declared in the order in which a call passes the stages.
///
/// # Examples
///
/// ```
/// use toolkit::call::{ErrorKind, Stage};
///
/// assert_eq!(ErrorKind::InvalidArguments.stage(), Stage::ValidateInput);
/// assert_eq!(ErrorKind::TimedOut.stage(), Stage::Invoke);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Stage {
    /// The tool is looked up.
    Resolve,
    /// The backend is selected.
    Select,
    /// The required credentials are checked.
    Require,
    /// The arguments are validated.
    ValidateInput,
    /// The call is approved.
    Approve,
    /// The call waits for a permit, or the tool runs.
    Invoke,
    /// The answer of a backend is read.
    Normalize,
    /// The result is validated.
    ValidateOutput,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        // The kinds are declared in this order, so that a missing one shifts those after it.
        for (idx, kind) in ErrorKind::ALL.into_iter().enumerate() {
            assert_eq!((kind as usize, ErrorKind::from_name(kind.name())), (idx, Some(kind)));
        }
        assert_eq!(ErrorKind::InvalidOutput as usize + 1, ErrorKind::ALL.len());
    }
}
