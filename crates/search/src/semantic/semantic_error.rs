//! The errors of embedders and of the semantic search.

use std::fmt;

/// An error of an embedder.
///
/// Any error type converts to it with `?`:
///
/// ```
/// use toolkit_search::{Embedder, EmbedderError};
///
/// /// Reads vectors from the lines of a file.
/// struct Precomputed(std::path::PathBuf);
///
/// impl Embedder for Precomputed {
///     fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         let lines = std::fs::read_to_string(&self.0)?;
///         let vectors = lines.lines().take(texts.len());
///         vectors.map(|line| Ok(line.split(' ').map(str::parse).collect::<Result<_, _>>()?)).collect()
///     }
/// }
///
/// let error = Precomputed("missing".into()).embed(&["mail"]).unwrap_err();
/// assert!(error.is::<std::io::Error>());
/// ```
pub type EmbedderError = Box<dyn std::error::Error + Send + Sync>;

/// An error of a semantic search.
///
/// ```
/// use toolkit::Tool;
/// use toolkit_search::{Embedder, EmbedderError, Fusion, Index, Semantic, SemanticError};
///
/// /// A model whose server is down.
/// struct Unreachable;
///
/// impl Embedder for Unreachable {
///     fn embed(&self, _: &[&str]) -> Result<Vec<Vec<f32>>, EmbedderError> {
///         Err("connection refused".into())
///     }
/// }
///
/// let snapshot = Index::from_tools(&[Tool::builder("send").build()?]).snapshot();
/// let hits = match Semantic::new(Unreachable).search(&snapshot, "send", Fusion::default(), 5) {
///     // The search by words needs no model.
///     Err(SemanticError::Embedder(_)) => snapshot.search("send", 5),
///     other => other?,
/// };
/// assert_eq!(hits[0].summary.name, "send");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum SemanticError {
    /// The embedder failed.
    Embedder(EmbedderError),
    /// The embedder did not return one vector for each text.
    #[non_exhaustive]
    Count {
        /// The number of texts.
        texts: usize,
        /// The number of vectors.
        vectors: usize,
    },
    /// Vectors have different numbers of dimensions.
    #[non_exhaustive]
    Length {
        /// The number of dimensions of the other vectors.
        expected: usize,
        /// The number of dimensions of the vector.
        found: usize,
    },
    /// The weight of the search by words is not from 0 to 1.
    #[non_exhaustive]
    LinearWeight {
        /// The weight.
        words: f32,
    },
    /// The weight of the semantic search is negative or not finite.
    #[non_exhaustive]
    AdditiveWeight {
        /// The weight.
        meaning: f32,
    },
}

impl fmt::Display for SemanticError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Embedder(error) => write!(f, "the embedder failed: {error}"),
            Self::Count { texts, vectors } => {
                write!(f, "the embedder returned {vectors} vectors for {texts} texts")
            }
            Self::Length { expected, found } => write!(
                f,
                "the embedder returned a vector with {found} dimensions after vectors with {expected}; use a single model"
            ),
            Self::LinearWeight { words } => write!(f, "the weight of words is {words}; it must be from 0 to 1"),
            Self::AdditiveWeight { meaning } => {
                write!(f, "the weight of meaning is {meaning}; it must be finite and at least 0")
            }
        }
    }
}

impl std::error::Error for SemanticError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Embedder(error) => Some(&**error),
            _ => None,
        }
    }
}
