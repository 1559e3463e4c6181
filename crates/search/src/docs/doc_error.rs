//! The errors of the documentation of tools.

use std::fmt;

use toolkit_schema::{Violations, quoted, shown_id};

use super::args_size::ArgsSize;

/// An error of [`Docs`](super::Docs).
///
/// ```
/// use std::sync::Arc;
/// use serde_json::json;
/// use toolkit::Tool;
/// use toolkit_search::{DocError, Docs, Index, ToolExample};
///
/// let add = Tool::builder("add").input(json!({ "type": "object", "required": ["a"] })).build()?;
/// let docs = Docs::new(Arc::new(Index::from_tools(&[add])));
/// let example = ToolExample::new(json!({ "b": 1 })).title("small numbers");
/// match docs.register_examples("add", vec![example]) {
///     Err(DocError::InvalidExample { example, violations, .. }) => {
///         assert_eq!((&*example, violations.len()), ("small numbers", 1));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum DocError {
    /// The level of detail does not exist.
    #[non_exhaustive]
    UnknownDetail {
        /// The requested level, truncated to 40 characters.
        detail: String,
    },
    /// There is neither a tool with this id nor documentation of it.
    #[non_exhaustive]
    UnknownTool {
        /// The requested id.
        id: String,
    },
    /// There is documentation, but no tool, so that only [`Detail::Summary`](super::Detail::Summary) is available.
    #[non_exhaustive]
    NoTool {
        /// The requested id.
        id: String,
    },
    /// The arguments of an example are too large for a model.
    #[non_exhaustive]
    ArgsTooLarge {
        /// The title of the example, or else its position, from 1.
        example: String,
        /// The size of the arguments.
        size: ArgsSize,
    },
    /// The arguments of an example do not match the schema of the tool.
    #[non_exhaustive]
    InvalidExample {
        /// The title of the example, or else its position, from 1.
        example: String,
        /// The violations of the schema.
        violations: Violations,
    },
    /// The resolver failed.
    Resolver(ResolveError),
}

impl fmt::Display for DocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDetail { detail } => {
                write!(f, "unknown level of detail {}; expected `summary`, `schema` or `full`", quoted(detail))
            }
            Self::UnknownTool { id } => write!(f, "no tool is named `{}`", shown_id(id)),
            Self::NoTool { id } => {
                write!(f, "`{}` has documentation, but no tool; only the detail Summary is available", shown_id(id))
            }
            Self::ArgsTooLarge { example, size } => write!(
                f,
                "the arguments of example {} have {} levels and {} entries; at most {} levels and {} entries are allowed",
                quoted(example),
                size.depth,
                size.n_entries,
                ArgsSize::MAX_DEPTH,
                ArgsSize::MAX_ENTRIES
            ),
            Self::InvalidExample { example, violations } => {
                write!(f, "the arguments of example {} do not match the schema: {violations}", quoted(example))
            }
            Self::Resolver(error) => write!(f, "cannot resolve the tool: {error}"),
        }
    }
}

impl std::error::Error for DocError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::InvalidExample { violations, .. } => Some(violations),
            Self::Resolver(error) => Some(&**error),
            _ => None,
        }
    }
}

/// The error of a resolver; see [`Docs::with_resolver`](super::Docs::with_resolver).
///
/// ```
/// use toolkit_search::{Detail, DocError, Docs};
///
/// let docs = Docs::with_resolver(|_| Err("the registry does not respond".into()));
/// let error = docs.describe("add", Detail::Full).unwrap_err();
/// assert!(matches!(error, DocError::Resolver(_)));
/// assert_eq!(error.to_string(), "cannot resolve the tool: the registry does not respond");
/// ```
pub type ResolveError = Box<dyn std::error::Error + Send + Sync>;
