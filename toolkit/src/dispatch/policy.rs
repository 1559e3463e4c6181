//! Settings of a dispatcher for all calls.

use std::time::Duration;

use crate::call::{Arguments, Coercion, Context, ErrorKind, ToolError};
use toolkit_schema::is_too_deep;

/// The settings for all calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Policy {
    pub(crate) validate_input: bool,
    pub(crate) validate_output: bool,
    pub(crate) coercion: Coercion,
    pub(crate) max_argument_bytes: usize,
    pub(crate) max_result_bytes: usize,
    pub(crate) timeout: Option<Duration>,
    pub(crate) acquire_timeout: Duration,
}

/// The default limit of arguments: far more than a model sends.
const MAX_ARGUMENT_BYTES: usize = 16 << 20;

/// The default limit of results: more than a model reads, and small enough for a server to hold several.
const MAX_RESULT_BYTES: usize = 16 << 20;

/// The default acquire timeout: longer than a model waits for a tool, and short enough to be noticed.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(60);

impl Default for Policy {
    fn default() -> Self {
        Self {
            validate_input: true,
            validate_output: true,
            coercion: Coercion::default(),
            max_argument_bytes: MAX_ARGUMENT_BYTES,
            max_result_bytes: MAX_RESULT_BYTES,
            timeout: None,
            acquire_timeout: ACQUIRE_TIMEOUT,
        }
    }
}

impl Policy {
    /// Rejects a call that is too large, nested too deeply, or cancelled, before its arguments are parsed.
    #[inline]
    pub(super) fn check_limits(&self, context: &Context, arguments: &Arguments<'_>) -> Result<(), ToolError> {
        if arguments.len() > self.max_argument_bytes {
            return Err(self.too_large(arguments));
        }
        // Validation and deserialization of a tree are recursive.
        if matches!(arguments, Arguments::Value(value) if is_too_deep(value)) {
            let message = "the arguments are nested deeper than 127 levels";
            return Err(ToolError::new(ErrorKind::MalformedJson, message));
        }
        check_cancelled(context)
    }

    #[cold]
    fn too_large(&self, arguments: &Arguments<'_>) -> ToolError {
        let (length, most) = (arguments.len(), self.max_argument_bytes);
        ToolError::new(ErrorKind::TooLarge, format!("the arguments have {length} bytes; the limit is {most}"))
    }
}

/// Rejects a cancelled call.
#[inline]
pub(super) fn check_cancelled(context: &Context) -> Result<(), ToolError> {
    if context.is_cancelled() {
        return Err(ToolError::cancelled());
    }
    Ok(())
}
