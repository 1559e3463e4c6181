//! Why the index did not change.

use std::fmt;

use crate::tool::InvalidBackend;
use toolkit_schema::shown_id;

/// Why the index did not change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// No tool has this id.
    #[non_exhaustive]
    UnknownTool {
        /// The id asked for.
        id: String,
    },
    /// The tool is there, but something else runs it.
    #[non_exhaustive]
    UnknownBackend {
        /// The tool.
        id: String,
    },
    /// A tool of this id is there, and says something else of itself.
    #[non_exhaustive]
    OtherDefinition {
        /// The id of both.
        id: String,
    },
    /// The backend is none.
    Backend(InvalidBackend),
}

impl IndexError {
    pub(super) fn unknown_tool(id: &str) -> Self {
        Self::UnknownTool { id: id.to_owned() }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { id } => write!(f, "no tool `{}` is in the index", shown_id(id)),
            Self::UnknownBackend { id } => write!(f, "that backend does not run `{}`", shown_id(id)),
            Self::OtherDefinition { id } => write!(
                f,
                "another tool `{}` is in the index and says something else of itself; update it, or put one of the two \
                 into a namespace",
                shown_id(id)
            ),
            Self::Backend(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IndexError {}
