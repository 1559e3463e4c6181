//! The concurrency limit of calls, in total and per tool.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// A concurrency limit of calls that is fair among tools.
///
/// A tool gets another permit as long as it holds fewer than three times the number of free permits. A single tool
/// therefore holds at most three quarters of the permits. Several slow tools get equal shares, and the next tool still
/// finds a third of a share.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::CallLimiter;
///
/// let limiter = CallLimiter::new(8);
/// let slow: Vec<_> = std::iter::from_fn(|| limiter.try_acquire("slow").ok()).collect();
/// assert_eq!(slow.len(), 6);
/// assert!(limiter.try_acquire("other").is_ok());
/// ```
#[derive(Clone, Debug)]
pub struct CallLimiter(Arc<LimiterShared>);

#[derive(Debug)]
struct LimiterShared {
    state: Mutex<LimiterState>,
    max_waiting: usize,
}

#[derive(Debug, Default)]
struct LimiterState {
    n_permits: usize,
    n_free: usize,
    n_waiting: usize,
    tools: HashMap<Arc<str>, Tool>,
}

#[derive(Debug)]
struct Tool {
    name: Arc<str>,
    n_running: usize,
    waiting: VecDeque<oneshot::Sender<CallPermit>>,
}

/// The lower bound of the number of calls that may wait.
const MIN_WAITING: usize = 256;

/// The maximum ratio of the permits of a tool to the free permits.
const SHARE: usize = 3;

/// The number of entries from which on those of idle tools are removed. An entry saves the copy of a tool's name.
const MAX_IDLE: usize = 4096;

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
/// let permit = limiter.acquire("search").await?;
/// assert_eq!(limiter.n_running(), 1);
/// drop(permit);
/// assert_eq!(limiter.n_running(), 0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CallPermit {
    /// `None` if the permit was returned already.
    limiter: Option<CallLimiter>,
    tool: Arc<str>,
}

/// The error of a [`CallLimiter`] without free permits for a tool.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::CallLimiter;
///
/// let limiter = CallLimiter::new(1);
/// let permit = limiter.try_acquire("search");
/// assert!(permit.is_ok());
/// let error = limiter.try_acquire("search").unwrap_err();
/// assert_eq!(error.to_string(), "concurrency limit of 1 calls reached; try again later");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Overloaded {
    n_permits: usize,
    /// The number of running calls of the tool, if that is its share.
    share: Option<usize>,
}

impl CallLimiter {
    /// Creates a limiter with `n_permits`, at least one. As many calls may wait for a permit, at least 256.
    #[must_use]
    pub fn new(n_permits: usize) -> Self {
        let n_permits = n_permits.max(1);
        let state = LimiterState { n_permits, n_free: n_permits, ..LimiterState::default() };
        Self(Arc::new(LimiterShared { state: Mutex::new(state), max_waiting: n_permits.max(MIN_WAITING) }))
    }

    /// Acquires a permit for a tool without waiting.
    ///
    /// # Errors
    ///
    /// Returns [`Overloaded`] if the tool has its share of the permits, or earlier calls of it wait for one.
    pub fn try_acquire(&self, tool: &str) -> Result<CallPermit, Overloaded> {
        let mut state = self.state();
        self.grant(&mut state, tool).ok_or_else(|| state.overloaded(tool))
    }

    /// Waits for a permit for a tool.
    ///
    /// # Errors
    ///
    /// Returns [`Overloaded`] if too many calls wait for a permit, in total or for this tool.
    pub async fn acquire(&self, tool: &str) -> Result<CallPermit, Overloaded> {
        let granted = {
            let mut state = self.state();
            if let Some(permit) = self.grant(&mut state, tool) {
                return Ok(permit);
            }
            let overloaded = state.overloaded(tool);
            if state.n_waiting >= self.0.max_waiting {
                state.remove_canceled();
            }
            let n_left = self.0.max_waiting.saturating_sub(state.n_waiting);
            let waiting = &mut state.tool(tool).waiting;
            // Fairness among waiting calls follows the rule for permits.
            if !is_within_share(waiting.len(), n_left) {
                return Err(overloaded);
            }
            let (grant, granted) = oneshot::channel();
            waiting.push_back(grant);
            state.n_waiting += 1;
            granted
        };
        granted.await.map_err(|_| self.state().overloaded(tool))
    }

    /// Returns the number of permits in use.
    #[must_use]
    pub fn n_running(&self) -> usize {
        let state = self.state();
        state.n_permits - state.n_free
    }

    fn grant(&self, state: &mut LimiterState, tool: &str) -> Option<CallPermit> {
        let n_free = state.n_free;
        if n_free == 0 {
            return None;
        }
        let tool = match state.tools.get_mut(tool) {
            Some(known) => known.admit(n_free)?,
            None => state.tool(tool).admit(n_free)?,
        };
        state.n_free -= 1;
        Some(CallPermit { limiter: Some(self.clone()), tool })
    }

    /// Grants free permits to waiting calls, those of the tool with the fewest running calls first.
    fn wake(&self, state: &mut LimiterState) {
        while state.n_waiting > 0 && state.n_free > 0 {
            let waiting = state.tools.values_mut().filter(|tool| !tool.waiting.is_empty());
            let Some(tool) = waiting.min_by_key(|tool| tool.n_running) else { break };
            if !is_within_share(tool.n_running, state.n_free) {
                break;
            }
            state.n_waiting -= 1;
            if let Some(waiter) = tool.waiting.pop_front()
                && !waiter.is_closed()
            {
                tool.n_running += 1;
                state.n_free -= 1;
                let permit = CallPermit { limiter: Some(self.clone()), tool: Arc::clone(&tool.name) };
                if let Err(mut permit) = waiter.send(permit) {
                    // Dropping the permit would lock the state again, and deadlock.
                    permit.limiter = None;
                    state.release(&permit.tool);
                }
            }
        }
    }

    fn state(&self) -> MutexGuard<'_, LimiterState> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn is_within_share(n_running: usize, n_free: usize) -> bool {
    n_free > 0 && n_running < n_free.saturating_mul(SHARE)
}

impl LimiterState {
    /// Returns the entry of a tool, which it adds if there is none.
    fn tool(&mut self, name: &str) -> &mut Tool {
        if !self.tools.contains_key(name) {
            if self.tools.len() >= MAX_IDLE {
                self.tools.retain(|_, tool| tool.n_running > 0 || !tool.waiting.is_empty());
            }
            let name: Arc<str> = name.into();
            let tool = Tool { name: Arc::clone(&name), n_running: 0, waiting: VecDeque::new() };
            self.tools.insert(name, tool);
        }
        self.tools.get_mut(name).expect("the entry exists")
    }

    /// Returns the error of a tool that gets no permit, with the limit that it has reached.
    fn overloaded(&self, tool: &str) -> Overloaded {
        let n_running = self.tools.get(tool).map_or(0, |tool| tool.n_running);
        let has_share = self.n_free > 0 && !is_within_share(n_running, self.n_free);
        Overloaded { n_permits: self.n_permits, share: has_share.then_some(n_running) }
    }

    /// Removes waiting calls whose futures were dropped.
    fn remove_canceled(&mut self) {
        for tool in self.tools.values_mut() {
            tool.waiting.retain(|waiting| !waiting.is_closed());
        }
        self.n_waiting = self.tools.values().map(|tool| tool.waiting.len()).sum();
    }

    fn release(&mut self, tool: &str) {
        if let Some(tool) = self.tools.get_mut(tool) {
            tool.n_running -= 1;
            self.n_free += 1;
        }
    }
}

impl Tool {
    /// Counts a call if the tool may have another permit, and returns the name of the tool.
    fn admit(&mut self, n_free: usize) -> Option<Arc<str>> {
        if !self.waiting.is_empty() || !is_within_share(self.n_running, n_free) {
            return None;
        }
        self.n_running += 1;
        Some(Arc::clone(&self.name))
    }
}

impl Drop for CallPermit {
    fn drop(&mut self) {
        let Some(limiter) = self.limiter.take() else { return };
        let mut state = limiter.state();
        state.release(&self.tool);
        if state.n_waiting > 0 {
            limiter.wake(&mut state);
        }
    }
}

impl fmt::Display for Overloaded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_permits, share } = self;
        match share {
            Some(share) => {
                write!(f, "concurrency limit of {share} calls of one tool reached, its share of {n_permits}")?
            }
            None => write!(f, "concurrency limit of {n_permits} calls reached")?,
        }
        f.write_str("; try again later")
    }
}

impl std::error::Error for Overloaded {}
