//! Permits of the concurrency limit.
//!
//! A call that a tool makes runs under the permit of that tool. A second permit could cause a deadlock, because the
//! tool returns its own only when the call has ended. Two things identify a call of a tool. The context that the tool
//! received carries its permits and follows the call wherever the tool uses it. For calls with another context there
//! is the thread: while the future of a tool is polled, or its function runs, the permits are stored in a
//! thread-local. A call that neither identifies, from a task or thread that the tool has spawned and with a new
//! context, waits for a permit like a call from outside, at most for the acquire timeout.

use std::cell::RefCell;
use std::sync::{Arc, Weak};
use std::time::Duration;

use self::slots::{Slot, Slots};
use super::tool_error::ToolError;

/// A limit on the number of concurrent calls, unlimited by default. Clones share the limit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Limiter(Option<Arc<Slots>>);

/// The right to run. The slot is released when the last holder is dropped: the call, or a call that it made.
#[derive(Debug, Default)]
pub(crate) struct Permit {
    _held: Option<Arc<HeldSlot>>,
    chain: Option<Arc<Chain>>,
}

#[derive(Debug)]
struct HeldSlot {
    slots: Arc<Slots>,
    _slot: Slot,
}

/// The permits that a call runs under, one for each limiter. Released permits do not count.
#[derive(Debug)]
pub(crate) struct Chain {
    permit: Weak<HeldSlot>,
    outer: Option<Arc<Chain>>,
}

impl Limiter {
    pub(crate) fn new(n_calls: usize) -> Self {
        Self(Some(Arc::new(Slots::new(n_calls))))
    }

    /// Returns true if there is no limit.
    #[inline]
    pub(crate) fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if the limit is zero, so that no call can ever run.
    pub(crate) fn is_zero(&self) -> bool {
        self.0.as_ref().is_some_and(|slots| slots.n_calls() == 0)
    }

    /// Acquires a permit that is free or inherited, without waiting.
    #[inline]
    pub(crate) fn try_acquire(&self, carried: Option<&Arc<Chain>>) -> Result<Permit, ToolError> {
        match &self.0 {
            None => Ok(Permit::default()),
            Some(slots) => try_acquire(slots, &Chain::of_call(carried)),
        }
    }

    /// Acquires a permit, waiting at most for `timeout`.
    #[inline]
    pub(crate) async fn acquire(&self, carried: Option<&Arc<Chain>>, timeout: Duration) -> Result<Permit, ToolError> {
        let Some(slots) = &self.0 else {
            return Ok(Permit::default());
        };
        let chain = Chain::of_call(carried);
        match try_acquire(slots, &chain) {
            Ok(permit) => Ok(permit),
            // Boxed to keep the future of calls that do not wait small.
            Err(_) => Box::pin(slots.wait(timeout)).await.map(|slot| Permit::new(slots, slot, chain)),
        }
    }
}

// Not inlined, to keep calls without a limit small.
#[inline(never)]
fn try_acquire(slots: &Arc<Slots>, chain: &Option<Arc<Chain>>) -> Result<Permit, ToolError> {
    if let Some(held) = chain.as_ref().and_then(|chain| chain.find(slots)) {
        return Ok(Permit { _held: Some(held), chain: chain.clone() });
    }
    let slot = slots.try_take().ok_or_else(|| ToolError::overloaded(slots.n_calls()))?;
    Ok(Permit::new(slots, slot, chain.clone()))
}

impl Permit {
    fn new(slots: &Arc<Slots>, slot: Slot, outer: Option<Arc<Chain>>) -> Self {
        let held = Arc::new(HeldSlot { slots: Arc::clone(slots), _slot: slot });
        let chain = Chain { permit: Arc::downgrade(&held), outer: Chain::live(outer) };
        Self { _held: Some(held), chain: Some(Arc::new(chain)) }
    }

    /// Returns the permits that a tool with this permit runs under.
    #[inline]
    pub(crate) fn chain(&self) -> Option<&Arc<Chain>> {
        self.chain.as_ref()
    }

    /// Marks the code of this thread as running under the permit until the value is dropped.
    #[inline]
    pub(crate) fn enter(&self) -> Option<Noted> {
        self.chain.as_ref().map(Noted::new)
    }
}

impl Chain {
    /// Returns the permits that a call runs under: those of its context, and those of this thread.
    pub(crate) fn of_call(carried: Option<&Arc<Self>>) -> Option<Arc<Self>> {
        let here = CURRENT.try_with(|current| current.borrow().clone()).ok().flatten();
        match (here, carried) {
            (None, carried) => carried.cloned(),
            (here, None) => here,
            (Some(here), Some(carried)) if Arc::ptr_eq(&here, carried) => Some(here),
            (here, Some(carried)) => carried.on_top_of(here),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Self> {
        std::iter::successors(Some(self), |chain| chain.outer.as_deref())
    }

    fn find(&self, slots: &Arc<Slots>) -> Option<Arc<HeldSlot>> {
        let mut held = self.iter().filter_map(|chain| chain.permit.upgrade());
        held.find(|held| Arc::ptr_eq(&held.slots, slots))
    }

    /// Merges both chains, without released permits.
    fn on_top_of(&self, outer: Option<Arc<Self>>) -> Option<Arc<Self>> {
        self.iter().fold(outer, |outer, chain| {
            let is_there =
                outer.as_ref().is_some_and(|outer| outer.iter().any(|other| other.permit.ptr_eq(&chain.permit)));
            if is_there || chain.is_over() {
                return outer;
            }
            Some(Arc::new(Self { permit: Weak::clone(&chain.permit), outer }))
        })
    }

    /// Removes released permits, so that the chain of a long sequence of calls does not grow.
    fn live(chain: Option<Arc<Self>>) -> Option<Arc<Self>> {
        let is_live = chain.as_ref().is_none_or(|chain| !chain.iter().any(Self::is_over));
        if is_live { chain } else { chain.and_then(|chain| chain.on_top_of(None)) }
    }

    /// Returns true if the permit is released.
    fn is_over(&self) -> bool {
        self.permit.strong_count() == 0
    }
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Chain>>> = const { RefCell::new(None) };
}

/// Stores the permits of the running code in the thread-local until dropped.
pub(crate) struct Noted(Option<Arc<Chain>>);

impl Noted {
    fn new(chain: &Arc<Chain>) -> Self {
        Self(swap(Some(Arc::clone(chain))))
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        swap(self.0.take());
    }
}

fn swap(chain: Option<Arc<Chain>>) -> Option<Arc<Chain>> {
    CURRENT.try_with(|current| current.replace(chain)).unwrap_or_default()
}

/// Slots that a call can wait for.
#[cfg(feature = "async")]
mod slots {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::sync::{OwnedSemaphorePermit, Semaphore};

    use crate::call::timer;
    use crate::call::tool_error::ToolError;

    #[derive(Debug)]
    pub(super) struct Slots {
        free: Arc<Semaphore>,
        n_calls: usize,
    }

    pub(super) type Slot = OwnedSemaphorePermit;

    impl Slots {
        pub(super) fn new(n_calls: usize) -> Self {
            let n_calls = n_calls.min(Semaphore::MAX_PERMITS);
            Self { free: Arc::new(Semaphore::new(n_calls)), n_calls }
        }

        pub(super) fn n_calls(&self) -> usize {
            self.n_calls
        }

        pub(super) fn try_take(&self) -> Option<Slot> {
            Arc::clone(&self.free).try_acquire_owned().ok()
        }

        /// Waits in the order of arrival.
        pub(super) async fn wait(&self, timeout: Duration) -> Result<Slot, ToolError> {
            match timer::timeout(timeout, Arc::clone(&self.free).acquire_owned()).await? {
                Some(Ok(slot)) => Ok(slot),
                // The semaphore is never closed.
                Some(Err(_)) | None => Err(ToolError::overloaded(self.n_calls)),
            }
        }
    }
}

/// Slots without waiting.
#[cfg(not(feature = "async"))]
mod slots {
    use std::future::{Future, ready};
    use std::sync::Arc;
    use std::time::Duration;

    use crate::call::tool_error::ToolError;

    #[derive(Debug)]
    pub(super) struct Slots {
        /// The counter of running calls: each holds a clone.
        running: Arc<()>,
        n_calls: usize,
    }

    pub(super) type Slot = Arc<()>;

    impl Slots {
        pub(super) fn new(n_calls: usize) -> Self {
            Self { running: Arc::default(), n_calls }
        }

        pub(super) fn n_calls(&self) -> usize {
            self.n_calls
        }

        pub(super) fn try_take(&self) -> Option<Slot> {
            let slot = Arc::clone(&self.running);
            // `self.running` and the new clone are not running calls.
            (Arc::strong_count(&slot) - 1 <= self.n_calls).then_some(slot)
        }

        pub(super) fn wait(&self, _: Duration) -> impl Future<Output = Result<Slot, ToolError>> + use<> {
            ready(Err(ToolError::overloaded(self.n_calls)))
        }
    }
}
