//! A budget that owners share, such as the memory that the callers of a server may take.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A budget that is fair among its owners. Clones share it.
///
/// An owner may hold as many units as are free. One that takes little at a time therefore holds at most half of the budget, and
/// the next one always finds room.
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
    held: Mutex<HeldUnits<K>>,
}

struct HeldUnits<K> {
    n_free: u64,
    of_owner: HashMap<K, u64>,
}

/// A part of a [`SharedBudget`]. Dropping it returns the units.
pub struct BudgetShare<K: Eq + Hash> {
    budget: SharedBudget<K>,
    /// `None` for an owner that has nothing else.
    owner: Option<K>,
    n_units: u64,
}

/// The error of an owner that has its share of a [`SharedBudget`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetExceeded {
    /// The number of units that the owner holds.
    pub held: u64,
    /// The number of units of the budget.
    pub max: u64,
}

impl<K: Eq + Hash> SharedBudget<K> {
    /// Creates a budget of `max` units.
    #[must_use]
    pub fn new(max: u64) -> Self {
        Self(Arc::new(SharedUnits { max, held: Mutex::new(HeldUnits { n_free: max, of_owner: HashMap::new() }) }))
    }

    /// Creates an empty part for an owner, or for one that has nothing else if it is `None`.
    #[must_use]
    pub fn share(&self, owner: Option<K>) -> BudgetShare<K> {
        BudgetShare { budget: self.clone(), owner, n_units: 0 }
    }

    /// Returns the number of units that an owner holds.
    pub fn held_by(&self, owner: &K) -> u64 {
        self.held().of_owner.get(owner).copied().unwrap_or(0)
    }

    fn held(&self) -> MutexGuard<'_, HeldUnits<K>> {
        self.0.held.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<K: Clone + Eq + Hash> BudgetShare<K> {
    /// Takes `n_more` units.
    ///
    /// # Errors
    ///
    /// Returns an error if the owner would hold more than what is free.
    pub fn grow(&mut self, n_more: u64) -> Result<(), BudgetExceeded> {
        let budget = self.budget.clone();
        let mut held = budget.held();
        let of_owner = match &self.owner {
            Some(owner) => held.of_owner.get(owner).copied().unwrap_or(0),
            None => self.n_units,
        };
        if of_owner.saturating_add(n_more) > held.n_free {
            return Err(BudgetExceeded { held: of_owner, max: budget.0.max });
        }
        self.add(&mut held, n_more);
        Ok(())
    }

    /// Takes up to `n_more` units of what is free, beyond the share of the owner.
    pub fn grow_beyond(&mut self, n_more: u64) {
        let budget = self.budget.clone();
        let mut held = budget.held();
        let n_more = n_more.min(held.n_free);
        self.add(&mut held, n_more);
    }

    fn add(&mut self, held: &mut HeldUnits<K>, n_more: u64) {
        held.n_free -= n_more;
        self.n_units += n_more;
        if let Some(owner) = &self.owner {
            match held.of_owner.get_mut(owner) {
                Some(of_owner) => *of_owner += n_more,
                None => drop(held.of_owner.insert(owner.clone(), n_more)),
            }
        }
    }
}

impl<K: Eq + Hash> BudgetShare<K> {
    /// Returns the number of units.
    #[must_use]
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
        let mut held = self.budget.held();
        held.n_free += n_units;
        if let Some(owner) = &self.owner
            && let Some(of_owner) = held.of_owner.get_mut(owner)
        {
            *of_owner -= n_units;
            if *of_owner == 0 {
                held.of_owner.remove(owner);
            }
        }
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
