//! Contexts of the calls that tools make.

use std::borrow::Cow;
use std::sync::Arc;

use super::context::Context;
use super::error::ToolError;
use crate::tool::Tool;

type Prepare = dyn Fn(&Tool, Context) -> Result<Context, ToolError> + Send + Sync;

/// The function that prepares the contexts of nested calls.
struct Nested(Arc<Prepare>);

impl Context {
    /// Sets a function that prepares the contexts of the calls that the tool makes itself, such as those of a
    /// [chain](crate::Chain) or a program. It checks whether the caller may call that tool, and sets the credentials:
    /// the context of a tool has those that the tool itself requires, and not those of the tools that it calls.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::call::{Credentials, ErrorKind};
    /// use toolkit::{Chain, Context, Dispatcher, ToolError, catalog, chain::Step, tool};
    ///
    /// /// Reads a document.
    /// #[tool(namespace = "docs", requires(user_id))]
    /// fn read(ctx: &Context) -> String {
    ///     format!("the document of {}", ctx.user_id().unwrap_or_default())
    /// }
    ///
    /// let context = Context::new().nested_with(|tool, context| match tool.id().namespace() {
    ///     Some("docs") => Ok(context.with_credentials(Credentials::new().with_user_id("ada"))),
    ///     _ => Err(ToolError::new(ErrorKind::Denied, "only documents can be read")),
    /// });
    /// let dispatcher = Dispatcher::new(catalog![read]?)?;
    /// let outcome = Chain::new().then(Step::new("docs:read")).run_sync(&dispatcher, &context)?;
    /// assert_eq!(outcome.result().unwrap().value(), "the document of ada");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn nested_with(self, prepare: impl Fn(&Tool, Self) -> Result<Self, ToolError> + Send + Sync + 'static) -> Self {
        self.with(Nested(Arc::new(prepare)))
    }

    /// Returns the context for a call of `tool` that another tool makes with this context. Without
    /// [`Context::nested_with`], it is this context.
    ///
    /// # Errors
    ///
    /// Returns an error if the caller may not call the tool.
    pub fn nested(&self, tool: &Tool) -> Result<Cow<'_, Self>, ToolError> {
        match self.get::<Nested>() {
            Some(Nested(prepare)) => prepare(tool, self.clone()).map(Cow::Owned),
            None => Ok(Cow::Borrowed(self)),
        }
    }
}
