//! Search over catalogs, so that a model sees five relevant tools instead of ten thousand.
//!
//! Create an index with [`Index::from_tools`] and search it with [`Index::search`]. Tools can be added and removed while the
//! index is searched ([`Index::register`], [`Index::unregister_backend`]), results can be read in pages
//! ([`Index::page`]), and listeners receive changes ([`Index::on_change`]). A large index can be saved and opened much
//! faster than it can be built ([`Snapshot::save`], [`Index::open`]).
//!
//! [`Docs`] returns the documentation of a tool at three levels of detail. [`Semantic`] combines the search with an
//! embedding model ([`Embedder`]).
//!
//! Search matches the words in the names, descriptions and schemas of tools; see [`Ranking`]. It stems English words,
//! and matches words of other languages exactly.
//!
//! ```
//! use toolkit_search::Index;
//!
//! /// Sends an email.
//! #[toolkit::tool]
//! fn send(to: String, text: String) {}
//!
//! /// Lists the files of a folder.
//! #[toolkit::tool]
//! fn list(folder: String) -> Vec<String> {
//!     vec![folder]
//! }
//!
//! # fn main() -> Result<(), toolkit::catalog::Diagnostics> {
//! let index = Index::from_tools(&toolkit::catalog![send, list]?);
//! let hits = index.search("sending emails", 5);
//! assert_eq!(hits[0].summary.name, "send");
//! # Ok(())
//! # }
//! ```
//!
//! # Source
//!
//! | module | part |
//! |---|---|
//! | `index`, `events` | an index, its changes, and the listeners |
//! | `snapshot`, `state` | what a search reads, whatever changes meanwhile |
//! | `segment`, `lists`, `record` | the tools with each word, and what is stored about a tool |
//! | `query`, `words` | text and tools split into words, and a query |
//! | `search`, `scan`, `ranking`, `page`, `hit`, `summary` | the ranked tools, in pages, with the reasons |
//! | `evidence` | the threshold that decides whether a query has an answer |
//! | `saved`, `bytes` | the file of an index, and fingerprints of tools |
//! | `docs` | the documentation of a tool at three levels |
//! | `semantic`, `embed` | the search by embeddings, and the models |

mod bytes;
mod docs;
pub mod embed;
mod events;
mod evidence;
mod hit;
mod index;
mod lists;
mod page;
mod query;
mod ranking;
mod record;
mod saved;
mod scan;
mod search;
mod segment;
mod semantic;
mod snapshot;
mod state;
mod summary;
mod words;

pub use self::bytes::OpenError;
pub use self::docs::ArgsSize;
pub use self::docs::{Detail, DocEntry, DocError, Docs, ResolveError, ToolDoc, ToolExample};
pub use self::events::{Change, ChangeKind, Subscription};
pub use self::hit::{Explanation, Hit, Match, Reason, ScoreType};
pub use self::index::{Index, IndexError};
pub use self::page::{CursorError, Page};
pub use self::query::{BehaviorHint, Query};
pub use self::ranking::{Field, Ranking, Weights};
pub use self::saved::Fingerprint;
pub use self::semantic::{Embedder, EmbedderError, Fusion, Semantic, SemanticError};
pub use self::snapshot::Snapshot;
pub use self::summary::SearchDoc;
pub use self::summary::{SchemaInfo, Summary};
