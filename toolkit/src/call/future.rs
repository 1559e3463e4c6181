//! Boxed futures.

use std::future::Future;
use std::pin::Pin;

/// A boxed future, as returned by the methods of [`Backend`](crate::backend::Backend).
///
/// # Examples
///
/// ```
/// use toolkit::ToolError;
/// use toolkit::call::BoxFuture;
///
/// trait Store {
///     fn read<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<String, ToolError>>;
/// }
///
/// struct Echo;
///
/// impl Store for Echo {
///     fn read<'a>(&'a self, key: &'a str) -> BoxFuture<'a, Result<String, ToolError>> {
///         Box::pin(async move { Ok(key.to_owned()) })
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// assert_eq!(Echo.read("a").await?, "a");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
