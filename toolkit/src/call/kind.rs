//! Kinds of errors, with their names and whether the tool may have started, and the stages of a call.

crate::named! {
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
    /// assert_eq!(ErrorKind::from_name("timed_out"), Some(ErrorKind::TimedOut));
    /// assert_eq!(ErrorKind::from_name("out_of_tea"), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ErrorKind {
        /// No tool has this name or id.
        UnknownTool = "unknown_tool",
        /// Several tools in different namespaces have this name.
        AmbiguousTool = "ambiguous_tool",
        /// The catalog describes the tool, and no backend runs it.
        NoBackend = "no_backend",
        /// The backend of the tool is unreachable or disabled. The tool has not started.
        Unavailable = "unavailable",
        /// The connection to the backend was lost during the call, and the tool may have run. Repeating the call may repeat
        /// its effects.
        OutcomeUnknown = "outcome_unknown",
        /// The backend of the tool rejects the credentials of this program.
        Unauthorized = "unauthorized",
        /// The caller lacks credentials that the tool requires; see [`ToolError::missing`](super::ToolError::missing).
        MissingRequirements = "missing_requirements",
        /// The call was not approved.
        Denied = "denied",
        /// A decision about the call is open, and the tool has not started; the call may be made again later.
        Pending = "pending",
        /// The arguments exceed the size limit of the dispatcher or of the backend.
        TooLarge = "too_large",
        /// The arguments are not JSON.
        MalformedJson = "malformed_json",
        /// The arguments do not match the input schema; see [`ToolError::violations`](super::ToolError::violations).
        InvalidArguments = "invalid_arguments",
        /// A concurrency or rate limit is reached; the call may succeed later.
        Overloaded = "overloaded",
        /// The tool failed with a message for the model.
        Failed = "failed",
        /// The user declined a question of the tool, or closed it without an answer.
        Declined = "declined",
        /// The tool asks the user, which the client does not support.
        CannotAsk = "cannot_ask",
        /// The tool failed with an unexpected error.
        Internal = "internal",
        /// The tool panicked.
        Panicked = "panicked",
        /// The tool exceeded its timeout.
        TimedOut = "timed_out",
        /// The caller cancelled the call.
        Cancelled = "cancelled",
        /// The tool is asynchronous or blocking, and the call was made without a runtime.
        NeedsRuntime = "needs_runtime",
        /// The backend returned a malformed result.
        InvalidResponse = "invalid_response",
        /// The result exceeds the size limit of the dispatcher.
        ResultTooLarge = "result_too_large",
        /// The result does not match the output schema and is withheld.
        InvalidOutput = "invalid_output",
    }
}

impl ErrorKind {
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
