//! Typed calls of tools.

use std::fmt;

use crate::call::{Context, ToolError};
use crate::dispatch::{Dispatcher, Typed, TypedCall};
use crate::tool::entry::Entry;

/// A tool as a typed function. rustc checks the input and the output, and no JSON is involved.
///
/// [`handle!`](crate::handle!) creates a handle. The call runs like one with [`Dispatcher::call`]: under the
/// concurrency limit and the timeout, on a thread of its own if the tool is `blocking`, with the credentials that the
/// tool requires, and until it is cancelled. The schemas are not validated: constraints beyond the types, such as a
/// range or a pattern, are not checked, as in a direct call of the Rust function. Layers apply only to calls with
/// JSON.
///
/// `R` is the return type of the function, and `O` the type of a successful result.
///
/// ```
/// use toolkit::{Dispatcher, catalog, handle, tool};
///
/// /// Adds two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a + b
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::new(catalog![add]?)?;
/// assert_eq!(handle!(add).call(&dispatcher, (1, 2)).await?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Handle<I, O, R = O> {
    linked: Linked<I, R>,
    finish: fn(R) -> Result<O, ToolError>,
    /// The namespace of the instance, if the tool has several.
    namespace: Option<&'static str>,
}

/// The hidden item beside a function: the function, its types, and the entry of its tool.
pub struct Linked<I, R> {
    entry: &'static Entry,
    call: TypedCall<I, R>,
}

impl<I, R> Linked<I, R> {
    pub(crate) const fn new(entry: &'static Entry, call: TypedCall<I, R>) -> Self {
        Self { entry, call }
    }

    /// Returns the entry of the tool.
    #[must_use]
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// Returns the typed handle. `finish` separates success from failure.
    pub const fn handle<O>(self, finish: fn(R) -> Result<O, ToolError>) -> Handle<I, O, R> {
        Handle { linked: self, finish, namespace: None }
    }
}

impl<I: Send + 'static, O: Send + 'static, R: 'static> Handle<I, O, R> {
    /// Selects an instance of the tool by its namespace; see [`Instances`](crate::catalog::Instances). Not needed if
    /// there is only one instance.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolkit::{Dispatcher, handle, toolset};
    ///
    /// struct Tracker(&'static str);
    ///
    /// #[toolset(namespace = "tracker")]
    /// impl Tracker {
    ///     /// Returns the host of the tracker.
    ///     #[tool]
    ///     fn host(&self) -> &'static str {
    ///         self.0
    ///     }
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::builder(toolkit::catalog![Tracker::host]?)
    ///     .instance("tracker_eu", Tracker("eu.example.com"))
    ///     .instance("tracker_us", Tracker("us.example.com"))
    ///     .build()?;
    /// let host = handle!(Tracker::host);
    /// assert_eq!(host.instance("tracker_us").call(&dispatcher, ()).await?, "us.example.com");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub const fn instance(self, namespace: &'static str) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// Returns the id that the author gave to the tool.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.linked.entry.id
    }

    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// Returns an error if the catalog of the dispatcher does not contain the tool, or if the tool fails or exceeds
    /// its timeout.
    pub async fn call(&self, dispatcher: &Dispatcher, input: I) -> Result<O, ToolError> {
        self.call_with(Context::EMPTY, dispatcher, input).await
    }

    /// Calls the tool with a context.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Handle::call`].
    pub async fn call_with(&self, context: &Context, dispatcher: &Dispatcher, input: I) -> Result<O, ToolError> {
        let Linked { entry, call } = self.linked;
        let typed = Typed { entry, call, finish: self.finish, namespace: self.namespace };
        dispatcher.run_typed(context, typed, input).await
    }
}

impl<I, R> Clone for Linked<I, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, R> Copy for Linked<I, R> {}

impl<I, O, R> Clone for Handle<I, O, R> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I, O, R> Copy for Handle<I, O, R> {}

impl<I, O, R> fmt::Debug for Handle<I, O, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Handle").field(&self.linked.entry.id).finish()
    }
}
