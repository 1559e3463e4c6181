//! Calling a tool with Rust types.

use std::fmt;

use crate::call::{Context, ToolError};
use crate::dispatch::{Dispatcher, Typed, TypedCall};
use crate::tool::entry::Entry;

/// A tool as a typed function: what goes in and what comes out is checked by rustc, and JSON is skipped.
///
/// [`handle!`](crate::handle!) makes one. The call runs as [`Dispatcher::call`] runs it: under the concurrency limit
/// and the timeout, on a thread of its own where the tool is `blocking`, with the credentials that the tool requires,
/// until the caller gives up. What is skipped is the validation: what the input schema asks beyond the types (a range,
/// a pattern) is not checked, as in a call of the Rust function itself. Layers see calls of JSON only.
///
/// `R` is what the function returns, and `O` what that is when it succeeds.
pub struct Handle<I, O, R = O> {
    linked: Linked<I, R>,
    finish: fn(R) -> Result<O, ToolError>,
    /// The namespace of one of several instances.
    namespace: Option<&'static str>,
}

/// A function, its types, and the record of its tool: the hidden item beside it.
pub struct Linked<I, R> {
    entry: &'static Entry,
    call: TypedCall<I, R>,
}

impl<I, R> Linked<I, R> {
    pub(crate) const fn new(entry: &'static Entry, call: TypedCall<I, R>) -> Self {
        Self { entry, call }
    }

    /// The record of the tool.
    #[must_use]
    pub const fn entry(&self) -> &'static Entry {
        self.entry
    }

    /// The typed handle; `finish` tells success from failure.
    pub const fn handle<O>(self, finish: fn(R) -> Result<O, ToolError>) -> Handle<I, O, R> {
        Handle { linked: self, finish, namespace: None }
    }
}

impl<I: Send + 'static, O: Send + 'static, R: 'static> Handle<I, O, R> {
    /// Returns the handle of the same tool of an instance, by the namespace of that; see
    /// [`Instances`](crate::catalog::Instances). A tool with one instance needs no choice.
    #[must_use]
    pub const fn instance(self, namespace: &'static str) -> Self {
        Self { namespace: Some(namespace), ..self }
    }

    /// The id of the tool, as its author wrote it.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        self.linked.entry.id
    }

    /// Calls the tool.
    ///
    /// # Errors
    ///
    /// The tool is not in the dispatcher's catalogue, it failed, or it took too long.
    pub async fn call(&self, dispatcher: &Dispatcher, input: I) -> Result<O, ToolError> {
        self.call_with(Context::EMPTY, dispatcher, input).await
    }

    /// Calls the tool with a context of the host's.
    ///
    /// # Errors
    ///
    /// As for [`Handle::call`].
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
