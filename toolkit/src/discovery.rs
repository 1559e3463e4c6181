//! Finding the right tool among many, so that a model sees five good ones instead of ten thousand.
//!
//! [`Index::of`] a catalogue, and [`Index::search`]: nothing else is needed. The index then takes tools in and out while
//! it is searched ([`Index::register`], [`Index::unregister_backend`]), gives long answers page by page
//! ([`Index::page`]) and tells others what changed ([`Index::on_change`]). An index of very many tools can be saved, and
//! is then opened in a small part of the time that building it takes ([`Snapshot::save`], [`Index::open`]).
//!
//! [`Docs`] has what there is to read of a tool, at three depths. [`Semantic`] finds tools by what is meant, where there
//! is a model ([`Embedder`]).
//!
//! Tools are found by the words that they say of themselves; see [`Ranking`]. It knows English, and finds words of every
//! other language as they are written.

mod asked;
mod bytes;
mod damage;
mod docs;
mod error;
mod events;
mod explain;
mod fields;
mod fingerprint;
mod hit;
mod index;
mod near;
mod page;
mod part;
mod query;
mod ranking;
mod record;
mod saved;
mod search;
mod search_doc;
mod segment;
mod semantic;
mod snapshot;
mod summary;
mod words;
mod words_of;

pub use self::docs::{ArgsSize, Detail, DocEntry, DocError, Docs, ResolveError, SchemaInfo, ToolDoc, ToolExample};
pub use self::error::IndexError;
pub use self::events::{Change, ChangeKind, Subscription};
pub use self::explain::{Explanation, Match, Reason};
pub use self::fingerprint::Fingerprint;
pub use self::hit::{Hit, ScoreType};
pub use self::index::Index;
pub use self::page::{InvalidCursor, Page};
pub use self::query::{Hint, Query};
pub use self::ranking::{Field, Ranking, Weights};
pub use self::saved::{Damage, OpenError};
pub use self::search_doc::SearchDoc;
pub use self::semantic::{Blend, Embedder, EmbedderError, Semantic, SemanticError};
pub use self::snapshot::Snapshot;
pub use self::summary::Summary;
