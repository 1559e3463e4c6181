//! The limits and policies of a dispatcher.

use std::time::Duration;

use super::DispatcherBuilder;
use crate::call::Coercion;
use crate::call::permit::Limiter;

impl DispatcherBuilder {
    /// Sets the default timeout of a call, which applies to tools without a timeout. No timeout by default.
    ///
    /// A thread of this crate measures real time, so timeouts work on any executor. A synchronous tool cannot be
    /// stopped before it returns; mark a slow one `blocking`.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use std::time::Duration;
    ///
    /// use toolkit::call::ErrorKind;
    /// use toolkit::dispatch::sleep;
    /// use toolkit::{Dispatcher, ToolError, catalog, tool};
    ///
    /// /// Waits for an hour.
    /// #[tool]
    /// async fn wait() -> Result<(), ToolError> {
    ///     sleep(Duration::from_secs(3600)).await
    /// }
    ///
    /// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
    /// let dispatcher = Dispatcher::builder(catalog![wait]?).timeout(Duration::from_millis(10)).build()?;
    /// assert_eq!(dispatcher.call("wait", "{}").await.unwrap_err().kind(), ErrorKind::TimedOut);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.policy.timeout = Some(limit);
        self
    }

    /// Sets the number of calls that run at the same time. Further calls wait for a permit, up to the
    /// [`acquire_timeout`](Self::acquire_timeout); [`Dispatcher::call_sync`](crate::Dispatcher::call_sync) does not
    /// wait and fails. No limit by default, and a limit of zero is an error of [`build`](Self::build).
    ///
    /// A call that a tool makes runs under the permit of that tool, so that it cannot wait for its caller. This
    /// includes calls with the tool's [`Context`](crate::Context) from any task or thread, and calls with any context
    /// from the tool's own future or function. A tool should pass its context to tasks and threads that it spawns;
    /// otherwise their calls need permits of their own.
    ///
    /// A permit is released when the call and every call made under the permit have ended. A `blocking` tool that
    /// exceeds its timeout holds its permit until the function returns.
    pub fn concurrency(mut self, n_calls: usize) -> Self {
        self.limiter = Limiter::new(n_calls);
        self
    }

    /// Sets the time that a call waits for a permit before it fails with
    /// [`ErrorKind::Overloaded`](crate::call::ErrorKind::Overloaded). The default is 60 seconds. The timeout of the
    /// call includes this wait.
    pub fn acquire_timeout(mut self, timeout: Duration) -> Self {
        self.policy.acquire_timeout = timeout;
        self
    }

    /// Sets the maximum size of the arguments in bytes of JSON. The default is 16 MiB.
    pub fn max_argument_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_argument_bytes = n_bytes;
        self
    }

    /// Sets the maximum size of a result, in bytes of JSON and of content each. The default is 16 MiB. Serialization
    /// stops at the limit, and the call fails with an error that contains it.
    ///
    /// # Examples
    ///
    /// ```standalone_crate
    /// use toolkit::call::ErrorKind;
    /// use toolkit::{Dispatcher, catalog, tool};
    ///
    /// /// Repeats a text.
    /// #[tool]
    /// fn repeat(text: String, times: usize) -> String {
    ///     text.repeat(times)
    /// }
    ///
    /// let dispatcher = Dispatcher::builder(catalog![repeat]?).max_result_bytes(100).build()?;
    /// let error = dispatcher.call_sync("repeat", r#"{"text": "ab", "times": 1000}"#).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::ResultTooLarge);
    /// # Ok::<(), toolkit::catalog::Diagnostics>(())
    /// ```
    pub fn max_result_bytes(mut self, n_bytes: usize) -> Self {
        self.policy.max_result_bytes = n_bytes;
        self
    }

    /// Sets the coercion of arguments that do not match the input schema. The default is [`Coercion::NullAsAbsent`].
    pub fn coercion(mut self, coercion: Coercion) -> Self {
        self.policy.coercion = coercion;
        self
    }

    /// Sets whether arguments are validated against the input schema. The default is `true`.
    pub fn validate_input(mut self, check: bool) -> Self {
        self.policy.validate_input = check;
        self
    }

    /// Sets whether results are validated against the output schema. The default is `true`.
    pub fn validate_output(mut self, check: bool) -> Self {
        self.policy.validate_output = check;
        self
    }
}
