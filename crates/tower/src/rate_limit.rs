//! Rate limits.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, PerTool, layer};

/// A layer that limits the rate of calls, in total or for each tool.
///
/// Further calls fail at once with [`ErrorKind::Overloaded`] and [`ToolError::retry_after`].
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
/// use toolkit_tower::{Rate, RateLimit};
///
/// let all = RateLimit::overall(Rate::new(100, Duration::from_secs(1)));
/// let each = RateLimit::with_rates(|tool| match tool.category() {
///     Some("search") => Some(Rate::new(10, Duration::from_secs(60))),
///     _ => None,
/// });
/// # let catalog = toolkit::Catalog::linked()?;
/// let dispatcher = toolkit::Dispatcher::builder(catalog).layer(all).layer(each).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct RateLimit(Limiters);

#[derive(Clone)]
enum Limiters {
    Overall(Arc<DefaultDirectRateLimiter>),
    PerTool(Arc<PerTool<Option<DefaultDirectRateLimiter>>>),
}

/// A number of calls per period.
///
/// The number is also the maximum burst; the quota is replenished continuously, one call at a time (generic cell rate
/// algorithm, ITU-T I.371).
///
/// # Examples
///
/// ```standalone_crate
/// use std::time::Duration;
/// use toolkit::call::ErrorKind;
/// use toolkit::{Catalog, Dispatcher, tool};
/// use toolkit_tower::{Rate, RateLimit};
///
/// /// Returns the exchange rate of a currency.
/// #[tool]
/// fn exchange_rate(currency: String) -> f64 {
///     1.25
/// }
///
/// // Two calls at once, then one every 30 seconds.
/// let rate = Rate::new(2, Duration::from_secs(60));
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(RateLimit::overall(rate)).build()?;
/// let call = || dispatcher.call("exchange_rate", r#"{"currency": "CHF"}"#);
/// assert!(call().await.is_ok() && call().await.is_ok());
/// let error = call().await.unwrap_err();
/// assert_eq!(error.kind(), ErrorKind::Overloaded);
/// assert!(error.retry_after().is_some_and(|delay| delay <= Duration::from_secs(30)));
/// # Ok::<(), Box<dyn std::error::Error>>(()) }).unwrap();
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    n_calls: NonZeroU32,
    per: Duration,
}

impl Rate {
    /// Creates a rate of `n_calls` per period `per`. `n_calls` is at least 1, and `per` is at most 365 days.
    #[must_use]
    pub fn new(n_calls: u32, per: Duration) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

        Self { n_calls: NonZeroU32::new(n_calls).unwrap_or(NonZeroU32::MIN), per: per.min(YEAR) }
    }

    /// Returns `None` if the interval between two calls is below the resolution of the clock.
    fn limiter(self) -> Option<DefaultDirectRateLimiter> {
        let quota = Quota::with_period(self.per / self.n_calls.get())?;
        Some(RateLimiter::direct(quota.allow_burst(self.n_calls)))
    }
}

impl RateLimit {
    /// Creates a limit for all calls in total.
    #[must_use]
    pub fn overall(rate: Rate) -> Self {
        match rate.limiter() {
            Some(limiter) => Self(Limiters::Overall(Arc::new(limiter))),
            None => Self::with_rates(|_| None),
        }
    }

    /// Creates a limit for the calls of each tool.
    #[must_use]
    pub fn per_tool(rate: Rate) -> Self {
        Self::with_rates(move |_| Some(rate))
    }

    /// Creates a limit with a rate for each tool. `None` is no limit.
    ///
    /// `rate` is called once for each tool.
    #[must_use]
    pub fn with_rates(rate: impl Fn(&Tool) -> Option<Rate> + Send + Sync + 'static) -> Self {
        Self(Limiters::PerTool(Arc::new(PerTool::new(move |tool| rate(tool)?.limiter()))))
    }
}

impl Middleware for RateLimit {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        match &self.0 {
            Limiters::Overall(limiter) => check(limiter, "calls")?,
            Limiters::PerTool(limiters) => {
                if let Some(limiter) = &*limiters.get(call.tool()) {
                    check(limiter, "calls of this tool")?;
                }
            }
        }
        inner.run(call).await
    }
}

layer!(RateLimit);

fn check(limiter: &DefaultDirectRateLimiter, what: &str) -> Result<(), ToolError> {
    limiter.check().map_err(|not_until| {
        let after = not_until.wait_time_from(limiter.clock().now());
        // Rounded up, so that a retry after this time succeeds.
        let seconds = after.as_millis().div_ceil(1000);
        let message = format!("too many {what}; try again in {seconds} s");
        ToolError::new(ErrorKind::Overloaded, message).retryable(after)
    })
}

impl fmt::Debug for RateLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Limiters::Overall(_) => "RateLimit(overall)",
            Limiters::PerTool(_) => "RateLimit(per tool)",
        })
    }
}
