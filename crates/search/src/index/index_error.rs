//! The errors of changing an index.

use std::fmt;

use toolkit::tool::NameError;
use toolkit_schema::shown_id;

/// An error of changing an index.
///
/// ```
/// use toolkit::Tool;
/// use toolkit::tool::ToolBackend;
/// use toolkit_search::{Index, IndexError};
///
/// let index = Index::from_tools(&[Tool::builder("send").description("Sends an email.").build()?]);
/// let other = Tool::builder("send").description("Sends a letter.").build()?;
/// let error = index.register(other.clone(), ToolBackend::mcp("post")?).unwrap_err();
/// assert!(matches!(&error, IndexError::OtherDefinition { id, .. } if id == "send"));
///
/// // `update` replaces the definition, and requires that the tool exists.
/// index.update(other)?;
/// let error = index.update(Tool::builder("receive").build()?).unwrap_err();
/// assert_eq!(error.to_string(), "the index has no tool `receive`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexError {
    /// No tool has this id.
    #[non_exhaustive]
    UnknownTool {
        /// The requested id.
        id: String,
    },
    /// The tool exists, but the backend does not run it.
    #[non_exhaustive]
    UnknownBackend {
        /// The id of the tool.
        id: String,
    },
    /// A tool with this id exists, and has another definition.
    #[non_exhaustive]
    OtherDefinition {
        /// The id of both tools.
        id: String,
    },
    /// The backend is invalid.
    Backend(NameError),
}

impl IndexError {
    pub(super) fn unknown_tool(id: &str) -> Self {
        Self::UnknownTool { id: id.to_owned() }
    }
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownTool { id } => write!(f, "the index has no tool `{}`", shown_id(id)),
            Self::UnknownBackend { id } => write!(f, "the backend does not run `{}`", shown_id(id)),
            Self::OtherDefinition { id } => write!(
                f,
                "the index has another tool `{}` with a different definition; update it, or put one of them into a \
                 namespace",
                shown_id(id)
            ),
            Self::Backend(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for IndexError {}
