//! Models for finding tools by what is meant: [`Embedder`](toolkit::discovery::Embedder)s for
//! [`Semantic`](toolkit::discovery::Semantic).
//!
//! `LocalModel` (feature `local`) runs in this process, `RemoteModel` (feature `http`) asks an endpoint elsewhere, and
//! [`Cached`] keeps the vectors of either in a file, so that a program that starts again embeds only what is new.
//!
//! All of them block while they work. Within an asynchronous runtime call
//! [`Semantic::update`](toolkit::discovery::Semantic::update) and
//! [`Semantic::search`](toolkit::discovery::Semantic::search) where blocking is allowed, such as in
//! `tokio::task::spawn_blocking`.

mod cached;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "local")]
mod local;

pub use self::cached::{CacheError, Cached};
#[cfg(feature = "http")]
pub use self::http::{InvalidEndpoint, RemoteError, RemoteModel};
#[cfg(feature = "local")]
pub use self::local::{LocalModel, ModelError};
