//! Limits for each tool: of its rate, and of its concurrent calls.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{Context, RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, PerTool, layer, unless_cancelled};

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

/// A layer that limits the number of concurrent calls of each tool.
///
/// Further calls wait in order of arrival until a permit is free or they are cancelled; with
/// [`reject_excess`](Self::reject_excess) they fail. An abandoned `blocking` tool keeps its permit until it ends.
///
/// # Examples
///
/// ```standalone_crate
/// use toolkit::{Catalog, Dispatcher};
/// use toolkit_tower::ConcurrencyPerTool;
///
/// // Tools with the tag `gpu` run one call at a time.
/// let limit = ConcurrencyPerTool::with_limits(|tool| Some(if tool.tags().iter().any(|tag| tag == "gpu") { 1 } else { 16 }));
/// let dispatcher = Dispatcher::builder(Catalog::linked()?).layer(limit.reject_excess()).build()?;
/// # Ok::<(), toolkit::catalog::Diagnostics>(())
/// ```
#[derive(Clone)]
pub struct ConcurrencyPerTool {
    semaphores: Arc<PerTool<Option<Arc<Semaphore>>>>,
    rejects_excess: bool,
}

/// A permit in the context of its call, which moves to the thread of a `blocking` tool and is dropped when the work ends.
/// The context holds one value of this type, so a permit keeps those that outer layers have acquired.
struct Permit {
    _permit: OwnedSemaphorePermit,
    _outer: Option<Arc<Permit>>,
}

impl ConcurrencyPerTool {
    /// Creates a layer that allows `n_calls` concurrent calls of each tool.
    #[must_use]
    pub fn new(n_calls: usize) -> Self {
        Self::with_limits(move |_| Some(n_calls))
    }

    /// Creates a layer with a limit for each tool. `None` is no limit, and a limit of 0 rejects all calls.
    ///
    /// `limit` is called once for each tool.
    #[must_use]
    pub fn with_limits(limit: impl Fn(&Tool) -> Option<usize> + Send + Sync + 'static) -> Self {
        let semaphore = move |tool: &Tool| {
            let n_calls = limit(tool)?;
            let semaphore = Semaphore::new(n_calls.min(Semaphore::MAX_PERMITS));
            if n_calls == 0 {
                // No permit would ever be free, so calls must not wait.
                semaphore.close();
            }
            Some(Arc::new(semaphore))
        };
        Self { semaphores: Arc::new(PerTool::new(semaphore)), rejects_excess: false }
    }

    /// Rejects calls above the limit with [`ErrorKind::Overloaded`]. By default they wait.
    #[must_use]
    pub fn reject_excess(self) -> Self {
        Self { rejects_excess: true, ..self }
    }

    async fn acquire(&self, semaphore: &Arc<Semaphore>, context: &Context) -> Result<OwnedSemaphorePermit, ToolError> {
        if self.rejects_excess {
            return Arc::clone(semaphore).try_acquire_owned().map_err(|_| overloaded());
        }
        unless_cancelled(context, Arc::clone(semaphore).acquire_owned()).await?.map_err(|_| overloaded())
    }
}

impl Middleware for ConcurrencyPerTool {
    async fn around(&self, mut call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        if let Some(semaphore) = &*self.semaphores.get(call.tool()) {
            let permit = self.acquire(semaphore, call.context()).await?;
            let context = call.context_mut();
            let outer = context.get::<Arc<Permit>>().cloned();
            *context = std::mem::take(context).with(Arc::new(Permit { _permit: permit, _outer: outer }));
        }
        inner.run(call).await
    }
}

layer!(ConcurrencyPerTool);

fn overloaded() -> ToolError {
    ToolError::new(ErrorKind::Overloaded, "concurrency limit of this tool reached; try again later")
}

toolkit::debug_fields!(ConcurrencyPerTool { rejects_excess });
