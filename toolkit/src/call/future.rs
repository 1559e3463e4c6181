//! Boxed futures.

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as returned by the methods of [`Backend`](crate::backend::Backend).
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
