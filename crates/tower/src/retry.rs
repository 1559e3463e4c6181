//! Retries of failed calls.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use toolkit::call::ErrorKind;
use toolkit::dispatch::{BoxFuture, Call, sleep};
use toolkit::{RunResult, ToolError};
use tower::retry::budget::{Budget, TpsBudget};

use crate::middleware::{Inner, Middleware, layer, unless_cancelled};

/// A layer that retries transient failures of idempotent tools.
///
/// - Only tools with the hint `read_only` or `idempotent` are retried. Hints of a backend are considered only if the host
///   trusts the backend or a lock confirms them; see
///   `Backends::collect`.
/// - Only [retryable](ToolError::is_retryable) errors and [`ErrorKind::OutcomeUnknown`] are retried.
/// - A streamed call is not retried, since its items would be sent twice.
/// - A call has at most three attempts by default ([`Retry::attempts`]). All calls share a budget ([`Retry::budget`]),
///   since retries of most calls would increase an overload.
/// - The delay grows exponentially with jitter ([`Retry::backoff`]), and is at least [`ToolError::retry_after`]. If
///   `retry_after` exceeds the maximum delay, the error is returned. Cancelling the call ends the delay.
///
/// The layer works on any executor; see [`Retry::timer`].
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::Retry;
///
/// let retry = Retry::new().attempts(5).backoff(Duration::from_millis(200), Duration::from_secs(20));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(retry).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Retry {
    max_attempts: u32,
    initial_delay: Duration,
    max_delay: Duration,
    budget: Arc<dyn Budget + Send + Sync>,
    timer: Arc<Timer>,
}

/// Waits between two attempts. It fails if the timer thread cannot be started.
type Timer = dyn Fn(Duration) -> BoxFuture<'static, Result<(), ToolError>> + Send + Sync;

impl Retry {
    /// Creates a layer with three attempts, delays of 100 ms to 10 s, and a budget of 20 % of the calls plus 10 retries per
    /// second ([`TpsBudget::default`]).
    pub fn new() -> Self {
        Self {
            max_attempts: 3,
            initial_delay: Duration::from_millis(100),
            max_delay: Duration::from_secs(10),
            budget: Arc::new(TpsBudget::default()),
            timer: Arc::new(|delay| Box::pin(sleep(delay))),
        }
    }

    /// Sets the maximum number of attempts, including the first one.
    pub fn attempts(self, max_attempts: u32) -> Self {
        Self { max_attempts, ..self }
    }

    /// Sets the initial and the maximum delay. The delay doubles with each attempt. It is reduced at random by up to a
    /// half, so that calls that failed together are not retried together.
    pub fn backoff(self, initial: Duration, max: Duration) -> Self {
        Self { initial_delay: initial, max_delay: max, ..self }
    }

    /// Sets the retry budget of all calls: each retry withdraws from it, and each call that ends without a retry deposits.
    pub fn budget(self, budget: impl Budget + Send + Sync + 'static) -> Self {
        Self { budget: Arc::new(budget), ..self }
    }

    /// Sets the timer of the delays. By default [`toolkit::dispatch::sleep`], which needs no runtime.
    ///
    /// ```
    /// # use toolkit_tower::Retry;
    /// // The clock of the tokio runtime, which tests can pause.
    /// let retry = Retry::new().timer(tokio::time::sleep);
    /// ```
    pub fn timer<F, W>(self, timer: F) -> Self
    where
        F: Fn(Duration) -> W + Send + Sync + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let timer = move |delay| -> BoxFuture<'static, _> {
            let elapsed = timer(delay);
            Box::pin(async move {
                elapsed.await;
                Ok(())
            })
        };
        Self { timer: Arc::new(timer), ..self }
    }

    /// Returns the delay after attempt `n_attempts`, counted from 1, or `None` if `retry_after` exceeds the maximum delay.
    fn delay(&self, n_attempts: u32, error: &ToolError) -> Option<Duration> {
        let retry_after = error.retry_after().unwrap_or_default();
        if retry_after > self.max_delay {
            return None;
        }
        // Clones of tower's `ExponentialBackoff` have the same jitter, and none at the maximum delay.
        let factor = 2_u32.saturating_pow(n_attempts.saturating_sub(1));
        let limit = self.initial_delay.saturating_mul(factor).min(self.max_delay);
        let delay = limit.mul_f64(0.5 + fastrand::f64() / 2.0);
        Some(retry_after.max(delay))
    }
}

impl Default for Retry {
    fn default() -> Self {
        Self::new()
    }
}

impl Middleware for Retry {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if call.is_streamed() || !call.tool().annotations().may_repeat() {
            return inner.run(call).await;
        }
        let mut n_attempts = 1;
        loop {
            let error = match inner.clone().run(call.clone()).await {
                Err(error) if error.is_retryable() || error.kind() == ErrorKind::OutcomeUnknown => error,
                outcome => {
                    self.budget.deposit();
                    return outcome;
                }
            };
            let delay = self.delay(n_attempts, &error).filter(|_| n_attempts < self.max_attempts);
            let Some(delay) = delay.filter(|_| self.budget.withdraw()) else {
                return Err(error);
            };
            tracing::debug!(tool = %call.tool().id(), error = error.kind().name(), ?delay, "retrying the call");
            if unless_cancelled(call.context(), (self.timer)(delay)).await?.is_err() {
                return Err(error);
            }
            n_attempts += 1;
        }
    }
}

layer!(Retry);

toolkit::debug_fields!(Retry { max_attempts, initial_delay, max_delay });
