//! Why there is no documentation.

use std::fmt;

use super::example::ArgsSize;
use super::{Detail, ResolveError};
use toolkit_schema::{Violations, quoted, shown_id};

/// Why there is no documentation, or why it was not taken.
#[derive(Debug)]
#[non_exhaustive]
pub enum DocError {
    /// There is no such depth.
    #[non_exhaustive]
    UnknownDetail {
        /// The depth asked for, or its beginning.
        asked: String,
    },
    /// There is neither a tool of this id nor documentation of one.
    #[non_exhaustive]
    UnknownTool {
        /// The id asked for.
        id: String,
    },
    /// There is documentation, and no tool: more than [`Detail::Summary`] cannot be said.
    #[non_exhaustive]
    NoTool {
        /// The id asked for.
        id: String,
    },
    /// The arguments of an example are too large to be read by a model.
    #[non_exhaustive]
    ArgsTooLarge {
        /// Which example: its title, or its place, from 1.
        example: String,
        /// How large they are.
        size: ArgsSize,
    },
    /// The arguments of an example do not fit the tool's schema.
    #[non_exhaustive]
    InvalidExample {
        /// Which example: its title, or its place, from 1.
        example: String,
        /// What does not fit.
        violations: Violations,
    },
    /// The tool could not be looked up.
    Resolver(ResolveError),
}

impl fmt::Display for DocError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownDetail { asked } => {
                write!(f, "there is no detail {}; use `summary`, `schema` or `full`", quoted(asked))
            }
            Self::UnknownTool { id } => write!(f, "no tool is named `{}`", shown_id(id)),
            Self::NoTool { id } => {
                write!(f, "`{}` is documented, but not there; ask for the detail {:?}", shown_id(id), Detail::Summary)
            }
            Self::ArgsTooLarge { example, size } => write!(
                f,
                "the arguments of example {} are {} levels deep and have {} entries; at most {} and {} are taken",
                quoted(example),
                size.depth,
                size.n_entries,
                ArgsSize::MAX_DEPTH,
                ArgsSize::MAX_ENTRIES
            ),
            Self::InvalidExample { example, violations } => {
                write!(f, "the arguments of example {} do not fit: {violations}", quoted(example))
            }
            Self::Resolver(error) => write!(f, "cannot look the tool up: {error}"),
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
