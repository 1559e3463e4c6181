//! The concurrency limit of calls, in total, per tool and per caller.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

use tokio::sync::oneshot;

use crate::mutex::Mutex;
use crate::{BudgetExceeded, BudgetShare, SharedBudget};

/// A concurrency limit of calls that is fair among tools, and among callers.
///
/// A tool gets another permit as long as it holds fewer than three times the number of free permits. A single tool
/// therefore holds at most three quarters of the permits. Several slow tools get equal shares, and the next tool still
/// finds a third of a share. The same holds for each caller, whichever tools it calls.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::CallLimiter;
///
/// let limiter = CallLimiter::new(8);
/// let slow: Vec<_> = std::iter::from_fn(|| limiter.try_acquire("slow", None).ok()).collect();
/// assert_eq!(slow.len(), 6);
/// assert!(limiter.try_acquire("other", None).is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct CallLimiter(Arc<LimiterShared>);

#[derive(Debug)]
struct LimiterShared {
    permits: SharedBudget<CallOwner>,
    /// The places of calls that wait.
    places: SharedBudget<CallOwner>,
    waiting: Mutex<WaitingCalls>,
    n_permits: usize,
}

/// The calls that wait, by their owners.
type WaitingCalls = HashMap<Box<[CallOwner]>, VecDeque<WaitingCall>>;

#[derive(Debug)]
struct WaitingCall {
    grant: oneshot::Sender<CallPermit>,
    _place: BudgetShare<CallOwner>,
}

/// The caller or the tool of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum CallOwner {
    Caller(Arc<str>),
    Tool(Arc<str>),
}

/// The lower bound of the number of calls that may wait.
const MIN_WAITING: usize = 256;

/// The maximum ratio of the permits of a tool, or of a caller, to the free permits.
const SHARE: u64 = 3;

/// A permit of a [`CallLimiter`]. Dropping it returns it.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::CallLimiter;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toolkit_runtime::Overloaded> {
/// let limiter = CallLimiter::new(8);
/// let permit = limiter.acquire("search", None).await?;
/// assert_eq!(limiter.n_running(), 1);
/// drop(permit);
/// assert_eq!(limiter.n_running(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CallPermit {
    /// `None` if nothing is to be woken.
    limiter: Option<CallLimiter>,
    share: BudgetShare<CallOwner>,
}

/// The error of a [`CallLimiter`] without free permits for a tool.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::CallLimiter;
///
/// let limiter = CallLimiter::new(1);
/// let permit = limiter.try_acquire("search", None);
/// assert!(permit.is_ok());
/// let error = limiter.try_acquire("search", None).unwrap_err();
/// assert_eq!(error.to_string(), "concurrency limit of 1 calls reached; try again later");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded {
    n_permits: usize,
    /// The number of running calls of the tool or the caller, if that is its share.
    share: Option<(u64, &'static str)>,
}

impl CallLimiter {
    /// Creates a limiter with `n_permits`, at least one. As many calls may wait for a permit, at least 256.
    pub fn new(n_permits: usize) -> Self {
        let n_permits = n_permits.max(1);
        Self(Arc::new(LimiterShared {
            permits: SharedBudget::with_ratio(n_permits as u64, SHARE),
            places: SharedBudget::with_ratio(n_permits.max(MIN_WAITING) as u64, SHARE),
            waiting: Mutex::default(),
            n_permits,
        }))
    }

    /// Acquires a permit for a call of a tool without waiting. The calls without a caller have no share together.
    ///
    /// # Errors
    ///
    /// Returns [`Overloaded`] if the tool or the caller has its share of the permits.
    pub fn try_acquire(&self, tool: impl Into<Arc<str>>, caller: Option<&str>) -> Result<CallPermit, Overloaded> {
        self.grant(owners(tool.into(), caller))
    }

    /// Waits for a permit for a call of a tool.
    ///
    /// # Errors
    ///
    /// Returns [`Overloaded`] if too many calls wait for a permit, in total, for this tool or of this caller.
    pub async fn acquire(&self, tool: impl Into<Arc<str>>, caller: Option<&str>) -> Result<CallPermit, Overloaded> {
        let owners = owners(tool.into(), caller);
        let (granted, overloaded) = {
            let mut waiting = self.0.waiting.lock();
            let overloaded = match self.grant(owners.clone()) {
                Ok(permit) => return Ok(permit),
                Err(overloaded) => overloaded,
            };
            // Fairness among waiting calls follows the rule for permits.
            let mut place = self.0.places.share(owners.iter().cloned());
            if place.grow(1).is_err() {
                remove_canceled(&mut waiting);
                place.grow(1).map_err(|_| overloaded)?;
            }
            let (grant, granted) = oneshot::channel();
            waiting.entry(owners).or_default().push_back(WaitingCall { grant, _place: place });
            (granted, overloaded)
        };
        granted.await.map_err(|_| overloaded)
    }

    /// Returns the number of permits in use.
    pub fn n_running(&self) -> usize {
        self.0.permits.n_held() as usize
    }

    fn grant(&self, owners: Box<[CallOwner]>) -> Result<CallPermit, Overloaded> {
        // The last owner is the tool.
        let n_others = owners.len() - 1;
        let mut share = self.0.permits.share(owners);
        match share.grow(1) {
            Ok(()) => Ok(CallPermit { limiter: Some(self.clone()), share }),
            Err(BudgetExceeded { owner, held, .. }) => {
                let n_permits = self.0.n_permits;
                let whose = if owner < n_others { "this caller" } else { "one tool" };
                let has_share = self.n_running() < n_permits;
                Err(Overloaded { n_permits, share: has_share.then_some((held, whose)) })
            }
        }
    }

    /// Grants free permits to waiting calls, those of the caller and of the tool with the fewest running calls first.
    fn wake(&self, waiting: &mut WaitingCalls) {
        while let Some((owners, permit)) = self.next(waiting) {
            let calls = waiting.get_mut(&owners);
            let call = calls.and_then(VecDeque::pop_front);
            if waiting.get(&owners).is_some_and(VecDeque::is_empty) {
                waiting.remove(&owners);
            }
            if let Some(call) = call
                && let Err(mut permit) = call.grant.send(permit)
            {
                // Dropping the permit would lock the waiting calls again, and deadlock.
                permit.limiter = None;
            }
        }
    }

    /// Takes a permit for the next waiting call.
    fn next(&self, waiting: &WaitingCalls) -> Option<(Box<[CallOwner]>, CallPermit)> {
        let mut owners: Vec<_> = waiting.keys().collect();
        owners
            .sort_by_cached_key(|owners| owners.iter().map(|owner| self.0.permits.held_by(owner)).collect::<Vec<_>>());
        owners.into_iter().find_map(|owners| Some((owners.clone(), self.grant(owners.clone()).ok()?)))
    }
}

fn owners(tool: Arc<str>, caller: Option<&str>) -> Box<[CallOwner]> {
    let tool = CallOwner::Tool(tool);
    match caller {
        None => Box::new([tool]),
        Some(caller) => Box::new([CallOwner::Caller(caller.into()), tool]),
    }
}

/// Removes waiting calls whose futures were dropped.
fn remove_canceled(waiting: &mut WaitingCalls) {
    waiting.retain(|_, calls| {
        calls.retain(|call| !call.grant.is_closed());
        !calls.is_empty()
    });
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        let Some(limiter) = self.limiter.take() else { return };
        let mut waiting = limiter.0.waiting.lock();
        self.share.shrink(1);
        if !waiting.is_empty() {
            limiter.wake(&mut waiting);
        }
    }
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_permits, share } = self;
        match share {
            Some((n_running, whose)) => {
                write!(f, "concurrency limit of {n_running} calls of {whose} reached, its share of {n_permits}")?
            }
            None => write!(f, "concurrency limit of {n_permits} calls reached")?,
        }
        f.write_str("; try again later")
    }
}

impl std::error::Error for Overloaded {}
