//! Wakers of tasks that wait for a free slot.

use std::collections::BTreeMap;
use std::task::Waker;

/// The wakers of waiting tasks, one for each task even if it is polled repeatedly.
#[derive(Debug, Default)]
pub(super) struct Wakers {
    waiting: BTreeMap<u64, Waker>,
    n_keys: u64,
}

impl Wakers {
    /// Stores the waker of a task, replacing its earlier one. The task stores the key.
    pub(super) fn keep(&mut self, key: &mut Option<u64>, waker: &Waker) {
        let key = *key.get_or_insert_with(|| {
            self.n_keys += 1;
            self.n_keys
        });
        self.waiting.entry(key).and_modify(|kept| kept.clone_from(waker)).or_insert_with(|| waker.clone());
    }

    /// Removes a task that no longer waits.
    pub(super) fn forget(&mut self, key: Option<u64>) -> Option<Waker> {
        self.waiting.remove(&key?)
    }

    /// Removes all wakers. Call [`Woken::wake`] after unlocking.
    #[must_use]
    pub(super) fn take(&mut self) -> Woken {
        Woken(std::mem::take(&mut self.waiting))
    }
}

/// Wakers that are about to be woken.
pub(super) struct Woken(BTreeMap<u64, Waker>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.into_values().for_each(Waker::wake);
    }
}
