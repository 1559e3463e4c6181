//! The errors of opening a saved index.

use std::{fmt, io};

use toolkit_schema::shown_id;

/// The version of the file format. It is increased whenever a file gets another meaning, which includes changes to the
/// splitting of text into words.
pub(crate) const FORMAT: u32 = 3;

/// An error of opening a saved index. For all except [`OpenError::Io`], rebuild the index.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Index, OpenError};
///
/// /// Opens a saved index, or builds it if the file cannot be used.
/// fn open_or_build(file: &[u8], tools: &[Tool]) -> std::io::Result<Index> {
///     match Index::open("tools of 2.0.0", file) {
///         Ok(index) => Ok(index),
///         Err(OpenError::Io(error)) => Err(error),
///         Err(error) => {
///             eprintln!("{error}");
///             Ok(Index::from_tools(tools))
///         }
///     }
/// }
///
/// let index = open_or_build(b"the content of another file", &[Tool::builder("send").build()?])?;
/// assert_eq!(index.snapshot().len(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The file could not be read.
    Io(io::Error),
    /// The file does not start like an index.
    NotAnIndex,
    /// The file has the format of another release.
    #[non_exhaustive]
    OtherFormat {
        /// The version of the format.
        found: u32,
    },
    /// The index has another label than expected.
    #[non_exhaustive]
    Stale {
        /// The label, truncated to 200 characters.
        found: String,
    },
    /// The file is damaged: the reason.
    ///
    /// ```
    /// use toolkit_search::{Index, OpenError};
    ///
    /// let mut file = Vec::new();
    /// Index::new().snapshot().save("no tools", &mut file)?;
    /// file.pop();
    ///
    /// let error = Index::open("no tools", &file[..]).unwrap_err();
    /// assert!(matches!(error, OpenError::Damaged("the file is too short")));
    /// assert_eq!(error.to_string(), "the index is damaged: the file is too short; rebuild it");
    /// # Ok::<(), std::io::Error>(())
    /// ```
    Damaged(&'static str),
}

/// The kind of damage of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Damage {
    TooShort,
    TooLong,
    Checksum,
    /// The checksum matches, but the content is not an index.
    Content,
}

impl From<Damage> for OpenError {
    fn from(damage: Damage) -> Self {
        Self::Damaged(match damage {
            Damage::TooShort => "the file is too short",
            Damage::TooLong => "the file is too long",
            Damage::Checksum => "the checksum does not match",
            Damage::Content => "the content is not an index",
        })
    }
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot read the index: {error}"),
            Self::NotAnIndex => f.write_str("the file is not an index of tools"),
            Self::OtherFormat { found } => {
                write!(f, "the index has format {found}, but this release reads format {FORMAT}; rebuild it")
            }
            Self::Stale { found } => write!(f, "the index has the label `{}`; rebuild it", shown_id(found)),
            Self::Damaged(reason) => write!(f, "the index is damaged: {reason}; rebuild it"),
        }
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}
