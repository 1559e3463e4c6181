//! The status of a task.

/// The maximum length of a status message, in characters.
const MAX_MESSAGE: usize = 500;

/// The status of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    Working,
    InputRequired,
    Completed,
    Failed,
    Cancelled,
}

impl Status {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Working => "working",
            Self::InputRequired => "input_required",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

/// Creates a status message from a text of any length.
pub(super) fn status_message(text: &str) -> String {
    text.chars().take(MAX_MESSAGE).collect()
}
