//! What the process says to its parent.

use std::process::ExitCode;

/// How the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// It worked.
    Success,
    /// The tool failed, its schema refused the arguments, or the catalogue has problems.
    Failed,
    /// The command line is wrong.
    Usage,
    /// Ctrl-C stopped the call.
    Interrupted,
}

impl Exit {
    pub(crate) const fn code(self) -> u8 {
        match self {
            Exit::Success => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            // 128 and the number of SIGINT, as shells have it.
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.code())
    }
}
