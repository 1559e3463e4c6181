//! How many calls are made in a time.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use toolkit::call::ErrorKind;
use toolkit::dispatch::Call;
use toolkit::{RunResult, Tool, ToolError};

use crate::middleware::{Inner, Middleware, layer};
use crate::per_tool::PerTool;

/// A bound on the calls in a time, of all tools together or of each. Calls beyond it are refused at once, with
/// [`ErrorKind::Overloaded`] and the time after which there is room again ([`ToolError::retry_after`]).
///
/// ```
/// use std::time::Duration;
/// use toolkit_tower::{Rate, RateLimit};
///
/// let all = RateLimit::overall(Rate::new(100, Duration::from_secs(1)));
/// let each = RateLimit::by(|tool| match tool.category() {
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

/// So many calls in a time: as many at once, and then one more whenever its part of the time is over (the generic cell
/// rate algorithm, ITU-T I.371).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    n_calls: NonZeroU32,
    per: Duration,
}

impl Rate {
    /// `n_calls` in `per`: at least one, in at most a year.
    #[must_use]
    pub fn new(n_calls: u32, per: Duration) -> Self {
        const YEAR: Duration = Duration::from_secs(365 * 24 * 60 * 60);

        Self { n_calls: NonZeroU32::new(n_calls).unwrap_or(NonZeroU32::MIN), per: per.min(YEAR) }
    }

    /// None where the calls come faster than time is measured.
    fn limiter(self) -> Option<DefaultDirectRateLimiter> {
        let quota = Quota::with_period(self.per / self.n_calls.get())?;
        Some(RateLimiter::direct(quota.allow_burst(self.n_calls)))
    }
}

impl RateLimit {
    /// Counts all calls together.
    #[must_use]
    pub fn overall(rate: Rate) -> Self {
        match rate.limiter() {
            Some(limiter) => Self(Limiters::Overall(Arc::new(limiter))),
            None => Self::by(|_| None),
        }
    }

    /// Counts the calls of each tool.
    #[must_use]
    pub fn per_tool(rate: Rate) -> Self {
        Self::by(move |_| Some(rate))
    }

    /// Counts the calls of each tool, each with a rate of its own; `None` is no limit.
    ///
    /// Each tool is asked about once.
    #[must_use]
    pub fn by(rate: impl Fn(&Tool) -> Option<Rate> + Send + Sync + 'static) -> Self {
        Self(Limiters::PerTool(Arc::new(PerTool::new(move |tool| rate(tool)?.limiter()))))
    }
}

impl Middleware for RateLimit {
    async fn around(&self, call: Call, inner: impl Inner) -> Result<RunResult, ToolError> {
        match &self.0 {
            Limiters::Overall(limiter) => admit(limiter, "calls")?,
            Limiters::PerTool(limiters) => {
                if let Some(limiter) = &*limiters.of(call.tool()) {
                    admit(limiter, "calls of this tool")?;
                }
            }
        }
        inner.run(call).await
    }
}

layer!(RateLimit);

fn admit(limiter: &DefaultDirectRateLimiter, what: &str) -> Result<(), ToolError> {
    limiter.check().map_err(|not_until| {
        let after = not_until.wait_time_from(limiter.clock().now());
        // What is said is not sooner than what is meant.
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
