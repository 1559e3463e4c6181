//! Results in parts.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_core::Stream;

use super::emitter::{Emitted, Emitter};
use crate::call::ToolError;

/// A result in parts: a stream of items.
///
/// The output schema is a list of `T`. A plain call returns the whole list; a streamed call sends each item as a chunk
/// when it is available. Every item is validated before it is sent, and an error ends the stream.
///
/// ```
/// # use toolkit::{ToolError, tool};
/// # use toolkit::stream::Chunks;
/// /// Reads the lines of a text, slowly.
/// #[tool]
/// fn read_lines(text: String) -> Chunks<String> {
///     Chunks::emit(async move |lines| {
///         for line in text.lines() {
///             lines.send(line.to_owned()).await?;
///         }
///         Ok(())
///     })
/// }
/// ```
#[must_use]
pub struct Chunks<T> {
    items: Pin<Box<dyn Stream<Item = Result<T, ToolError>> + Send>>,
}

impl<T: Send + 'static> Chunks<T> {
    /// Creates a result from a stream.
    pub fn new(stream: impl Stream<Item = Result<T, ToolError>> + Send + 'static) -> Self {
        Self { items: Box::pin(stream) }
    }

    /// Creates a result from items that are available without waiting.
    pub fn from_items<I>(items: I) -> Self
    where
        I: IntoIterator<Item = T>,
        I::IntoIter: Send + 'static,
    {
        Self::new(Ready(items.into_iter()))
    }

    /// Creates a result from the items that `body` and its emitters send, also from other tasks and threads. An error
    /// of `body` ends the stream.
    pub fn emit<F, R>(body: F) -> Self
    where
        F: FnOnce(Emitter<T>) -> R,
        R: Future<Output = Result<(), ToolError>> + Send + 'static,
    {
        Self::new(Emitted::by(body))
    }

    /// Returns the next item, or `None` after the last.
    ///
    /// # Errors
    ///
    /// Returns the error of the tool, after which there are no items.
    ///
    /// # Examples
    ///
    /// A test of a streaming tool as the function that it is:
    ///
    /// ```
    /// use toolkit::stream::Chunks;
    /// use toolkit::tool;
    ///
    /// /// Splits a text into words.
    /// #[tool]
    /// fn words(text: String) -> Chunks<String> {
    ///     Chunks::from_items(text.split_whitespace().map(str::to_owned).collect::<Vec<_>>())
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let mut words = words("one two".to_owned());
    /// assert_eq!(words.next().await.transpose()?.as_deref(), Some("one"));
    /// assert_eq!(words.next().await.transpose()?.as_deref(), Some("two"));
    /// assert!(words.next().await.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn next(&mut self) -> Option<Result<T, ToolError>> {
        poll_fn(|cx| self.items.as_mut().poll_next(cx)).await
    }
}

impl<T> Stream for Chunks<T> {
    type Item = Result<T, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.items.as_mut().poll_next(cx)
    }
}

impl<T> fmt::Debug for Chunks<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Chunks")
    }
}

/// A stream over an iterator.
struct Ready<I>(I);

impl<I> Unpin for Ready<I> {}

impl<I: Iterator> Stream for Ready<I> {
    type Item = Result<I::Item, ToolError>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next().map(Ok))
    }
}
