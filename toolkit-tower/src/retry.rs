//! Calls that are made again.

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolkit::dispatch::{BoxFuture, Call, sleep};
use toolkit::{RunResult, Tool, ToolError};
use tower::retry::budget::{Budget, TpsBudget};

use crate::middleware::{Inner, Middleware, layer};
use crate::waiting::unless_cancelled;

/// Makes a call again that failed for a while only, where that does no harm.
///
/// - Only tools with a read-only or idempotent hint are called again. Hints of a backend count only if the host trusts
///   it or a lock confirms them; see
///   [`Backends::collect`](toolkit::backend::Backends::collect).
/// - Only errors that say that the same call may succeed later ([`ToolError::is_retryable`]) are tried again.
/// - A call whose result is streamed is made once: its reader would see the parts twice.
/// - There are at most three attempts, unless [`Retry::attempts`] says otherwise, and a budget for all calls together:
///   when most calls fail, trying again makes it worse.
/// - It waits longer each time, never less than [`ToolError::retry_after`]. Where that is longer than the longest wait,
///   the error is given back instead. Waiting ends when the caller gives up.
///
/// ```
/// use std::time::Duration;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::Retry;
///
/// let retry = Retry::new().attempts(5).waits(Duration::from_millis(200), Duration::from_secs(20));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(retry).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
///
/// It works on any executor; see [`Retry::timer`].
#[derive(Clone)]
pub struct Retry {
    n_attempts: u32,
    first_wait: Duration,
    longest_wait: Duration,
    budget: Arc<dyn Budget + Send + Sync>,
    timer: Arc<Timer>,
}

/// What waits between two attempts. It fails where there is no thread to measure time with.
type Timer = dyn Fn(Duration) -> BoxFuture<'static, Result<(), ToolError>> + Send + Sync;

impl Retry {
    /// Three attempts, the first wait of about 100 ms, none longer than 10 s; a budget of one call in five, or 10 calls
    /// a second where there are fewer ([`TpsBudget::default`]).
    #[must_use]
    pub fn new() -> Self {
        Self {
            n_attempts: 3,
            first_wait: Duration::from_millis(100),
            longest_wait: Duration::from_secs(10),
            budget: Arc::new(TpsBudget::default()),
            timer: Arc::new(|wait| Box::pin(sleep(wait))),
        }
    }

    /// How often a call is made at most, the first time included.
    #[must_use]
    pub fn attempts(self, n_attempts: u32) -> Self {
        Self { n_attempts, ..self }
    }

    /// How long the first wait is, and how long the longest one may be. Each is twice as long as the one before, and
    /// half of it is left to chance, so that calls that failed together do not come back together.
    #[must_use]
    pub fn waits(self, first: Duration, longest: Duration) -> Self {
        Self { first_wait: first, longest_wait: longest, ..self }
    }

    /// What all calls together may use up: each attempt but the first withdraws, each call that needs no other attempt
    /// deposits.
    #[must_use]
    pub fn budget(self, budget: impl Budget + Send + Sync + 'static) -> Self {
        Self { budget: Arc::new(budget), ..self }
    }

    /// Sets what waits between two attempts. By default it is [`toolkit::dispatch::sleep`], which needs no runtime.
    ///
    /// ```
    /// # use toolkit_tower::Retry;
    /// // The time of the runtime, which a test can pause.
    /// let retry = Retry::new().timer(tokio::time::sleep);
    /// ```
    #[must_use]
    pub fn timer<F, W>(self, timer: F) -> Self
    where
        F: Fn(Duration) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let timer = move |wait| -> BoxFuture<'static, _> {
            let waited = timer(wait);
            Box::pin(async move {
                waited.await;
                Ok(())
            })
        };
        Self { timer: Arc::new(timer), ..self }
    }

    /// How long to wait after an attempt, counted from 1; `None` is too long.
    fn wait(&self, n_attempts: u32, error: &ToolError) -> Option<Duration> {
        let wanted = error.retry_after().unwrap_or_default();
        if wanted > self.longest_wait {
            return None;
        }
        // Not tower's `ExponentialBackoff`: its clones draw the same numbers, and at its longest wait it draws none.
        let factor = 2_u32.saturating_pow(n_attempts.saturating_sub(1));
        let most = self.first_wait.saturating_mul(factor).min(self.longest_wait);
        let wait = most.mul_f64(0.5 + fastrand::f64() / 2.0);
        Some(wanted.max(wait))
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

impl Middleware for Retry {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if call.is_streamed() || !may_be_repeated(call.tool()) {
            return inner.run(call).await;
        }
        let mut n_attempts = 1;
        loop {
            let error = match inner.clone().run(call.clone()).await {
                Err(error) if error.is_retryable() => error,
                outcome => {
                    self.budget.deposit();
                    return outcome;
                }
            };
            let wait = self.wait(n_attempts, &error).filter(|_| n_attempts < self.n_attempts);
            let Some(wait) = wait.filter(|_| self.budget.withdraw()) else {
                return Err(error);
            };
            tracing::debug!(tool = %call.tool().id(), error = error.kind().name(), ?wait, "the call is made again");
            if unless_cancelled(call.context(), (self.timer)(wait)).await?.is_err() {
                return Err(error);
            }
            n_attempts += 1;
        }
    }
}

layer!(Retry);

fn may_be_repeated(tool: &Tool) -> bool {
    let hints = tool.annotations();
    hints.read_only == Some(true) || hints.idempotent == Some(true)
}

impl fmt::Debug for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retry")
            .field("n_attempts", &self.n_attempts)
            .field("first_wait", &self.first_wait)
            .field("longest_wait", &self.longest_wait)
            .finish_non_exhaustive()
    }
}
