//! What is known about the last build.

/// The state of the program, compared with its sources.
#[derive(Debug, Default)]
pub(super) enum BuildState {
    /// A build of changed sources runs.
    #[default]
    Building,
    /// The build, or the start of the program, has failed with these messages.
    Failed(String),
    /// The program is that of the sources.
    Current,
}

/// The maximum size of the messages for a model, in bytes.
const MAX_BYTES: usize = 16 << 10;

impl BuildState {
    /// Returns the text for a model that asks for errors.
    pub(super) fn report(&self) -> String {
        match self {
            Self::Building => "The build is still running. Call this tool again to wait for it.".to_owned(),
            Self::Failed(errors) if errors.len() > MAX_BYTES => {
                let end = errors.floor_char_boundary(MAX_BYTES);
                format!("{}\n… {} more bytes", &errors[..end], errors.len() - end)
            }
            Self::Failed(errors) => errors.clone(),
            Self::Current => "No errors: the program is built from the present sources, and runs.".to_owned(),
        }
    }

    /// Returns the note for the result of a program that is not that of the sources.
    pub(super) fn note(&self) -> Option<&'static str> {
        match self {
            Self::Building => Some(
                "note: this result is of the program before a change, which is being built; `dev_errors` waits for it",
            ),
            Self::Failed(_) => Some(
                "note: this result is of the program before a change that cannot be built; `dev_errors` has the errors",
            ),
            Self::Current => None,
        }
    }
}
