//! A budget that owners share, such as the memory that the callers of a server may take.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::Arc;

use crate::mutex::Mutex;

/// A budget that is fair among its owners. Clones share it.
///
/// An owner may hold as many units as are free, or a multiple of them. One that takes little at a time therefore holds at most
/// half of the budget, or more of it, and the next one always finds room. Units may belong to several owners, such as a tool and
/// its caller, none of which then holds more than its share.
///
/// # Examples
///
/// ```
/// use toolkit_runtime::SharedBudget;
///
/// let budget = SharedBudget::new(100);
/// let (mut alice, mut bob) = (budget.share(Some("alice")), budget.share(Some("bob")));
/// alice.grow(50)?;
/// assert_eq!(alice.grow(1).unwrap_err().to_string(), "the share of 50 of 100 is used up");
/// bob.grow(25)?;
/// drop(alice);
/// bob.grow(25)?;
/// # Ok::<(), toolkit_runtime::BudgetExceeded>(())
/// ```
pub struct SharedBudget<K>(Arc<SharedUnits<K>>);

struct SharedUnits<K> {
    max: u64,
    /// The maximum ratio of the units of an owner to the free units.
    ratio: u64,
    held: Mutex<HeldUnits<K>>,
    #[cfg(any(feature = "calls", feature = "lines"))]
    returned: tokio::sync::Notify,
}

struct HeldUnits<K> {
    n_free: u64,
    of_owner: HashMap<K, u64>,
}

/// A part of a [`SharedBudget`]. Dropping it returns the units.
pub struct BudgetShare<K: Eq + Hash> {
    budget: SharedBudget<K>,
    /// Empty for an owner that has nothing else.
    owners: Box<[K]>,
    n_units: u64,
}

/// The error of an owner that has its share of a [`SharedBudget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// The position of that owner among those of the part, or 0 if it has no other one.
    pub owner: usize,
    /// The number of units that the owner holds.
    pub held: u64,
    /// The number of units of the budget.
    pub max: u64,
}

impl<K: Eq + Hash> SharedBudget<K> {
    /// Creates a budget of `max` units.
    pub fn new(max: u64) -> Self {
        Self::with_ratio(max, 1)
    }

    /// Creates a budget of `max` units, of which an owner may hold up to `ratio` times what is free.
    pub fn with_ratio(max: u64, ratio: u64) -> Self {
        Self(Arc::new(SharedUnits {
            max,
            ratio,
            held: Mutex::new(HeldUnits { n_free: max, of_owner: HashMap::new() }),
            #[cfg(any(feature = "calls", feature = "lines"))]
            returned: tokio::sync::Notify::new(),
        }))
    }

    /// Creates an empty part for its owners, or for one that has nothing else if there are none.
    pub fn share(&self, owners: impl IntoIterator<Item = K>) -> BudgetShare<K> {
        BudgetShare { budget: self.clone(), owners: owners.into_iter().collect(), n_units: 0 }
    }

    /// Returns the number of units of all owners.
    pub fn n_held(&self) -> u64 {
        self.0.max - self.0.held.lock().n_free
    }

    /// Returns the number of units that an owner holds.
    pub fn held_by(&self, owner: &K) -> u64 {
        self.0.held.lock().held_by(owner)
    }

    /// Returns a future that completes when units are returned after this call.
    #[cfg(any(feature = "calls", feature = "lines"))]
    pub fn returned(&self) -> impl Future<Output = ()> + '_ {
        self.0.returned.notified()
    }
}

impl<K: Eq + Hash> HeldUnits<K> {
    fn held_by(&self, owner: &K) -> u64 {
        self.of_owner.get(owner).copied().unwrap_or(0)
    }
}

impl<K: Clone + Eq + Hash> BudgetShare<K> {
    /// Takes `n_more` units.
    ///
    /// # Errors
    ///
    /// Returns an error if an owner would hold more than its share.
    pub fn grow(&mut self, n_more: u64) -> Result<(), BudgetExceeded> {
        let SharedUnits { max, ratio, held, .. } = &*self.budget.0.clone();
        let mut units = held.lock();
        let limit = units.n_free.saturating_mul(*ratio);
        let alone = self.owners.is_empty().then_some(self.n_units);
        for (owner, held) in self.owners.iter().map(|owner| units.held_by(owner)).chain(alone).enumerate() {
            if held.saturating_add(n_more) > limit || n_more > units.n_free {
                return Err(BudgetExceeded { owner, held, max: *max });
            }
        }
        self.add(&mut units, n_more);
        Ok(())
    }

    /// Waits until there are `n_more` units for the owners, and takes them.
    #[cfg(any(feature = "calls", feature = "lines"))]
    pub async fn grow_when_free(&mut self, n_more: u64) {
        let budget = self.budget.clone();
        loop {
            let returned = budget.returned();
            if self.grow(n_more).is_ok() {
                return;
            }
            returned.await;
        }
    }

    /// Takes up to `n_more` units of what is free, beyond the share of the owners.
    pub fn grow_beyond(&mut self, n_more: u64) {
        let budget = self.budget.clone();
        let mut held = budget.0.held.lock();
        let n_more = n_more.min(held.n_free);
        self.add(&mut held, n_more);
    }

    fn add(&mut self, held: &mut HeldUnits<K>, n_more: u64) {
        held.n_free -= n_more;
        self.n_units += n_more;
        for owner in &self.owners {
            *held.of_owner.entry(owner.clone()).or_default() += n_more;
        }
    }
}

impl<K: Eq + Hash> BudgetShare<K> {
    /// Returns the number of units.
    pub fn n_units(&self) -> u64 {
        self.n_units
    }

    /// Returns up to `n_units` units.
    pub fn shrink(&mut self, n_units: u64) {
        let n_units = n_units.min(self.n_units);
        if n_units == 0 {
            return;
        }
        self.n_units -= n_units;
        let mut held = self.budget.0.held.lock();
        held.n_free += n_units;
        for owner in &self.owners {
            if let Some(of_owner) = held.of_owner.get_mut(owner) {
                *of_owner -= n_units;
                if *of_owner == 0 {
                    held.of_owner.remove(owner);
                }
            }
        }
        drop(held);
        #[cfg(any(feature = "calls", feature = "lines"))]
        self.budget.0.returned.notify_waiters();
    }
}

impl<K: Eq + Hash> Drop for BudgetShare<K> {
    fn drop(&mut self) {
        self.shrink(self.n_units);
    }
}

impl<K> Clone for SharedBudget<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

// The keys of owners may be personal data.
impl<K> fmt::Debug for SharedBudget<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedBudget").field("max", &self.0.max).finish_non_exhaustive()
    }
}

impl<K: Eq + Hash> fmt::Debug for BudgetShare<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetShare").field("n_units", &self.n_units).finish_non_exhaustive()
    }
}

impl fmt::Display for BudgetExceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the share of {} of {} is used up", self.held, self.max)
    }
}

impl std::error::Error for BudgetExceeded {}
