//! Embedding models for semantic search: [`Embedder`](crate::Embedder)s for
//! [`Semantic`](crate::Semantic).
//!
//! - `LocalModel` (feature `local`) runs a model in this process.
//! - `RemoteModel` (feature `http`) calls an endpoint with the API of OpenAI or Ollama.
//! - [`Cached`] caches the vectors of either in a file, so that a restarted program only embeds new texts.
//!
//! All of them block the thread. In an asynchronous runtime, call
//! [`Semantic::update`](crate::Semantic::update) and
//! [`Semantic::search`](crate::Semantic::search) where blocking is allowed, such as in
//! `tokio::task::spawn_blocking`.

mod cache_error;
mod cache_file;
mod cached;
#[cfg(feature = "local")]
mod config;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "local")]
mod local;
#[cfg(feature = "local")]
mod model_error;
#[cfg(feature = "local")]
mod model_file;
#[cfg(feature = "local")]
mod pooling;
mod vector_map;
#[cfg(feature = "local")]
mod weights;

pub use self::cache_error::CacheError;
pub use self::cached::Cached;
#[cfg(feature = "http")]
pub use self::http::{RemoteError, RemoteModel};
#[cfg(feature = "local")]
pub use self::local::LocalModel;
#[cfg(feature = "local")]
pub use self::model_error::ModelError;
