//! Who waits for room.

use std::collections::BTreeMap;
use std::task::Waker;

/// The wakers of tasks that wait, one for each: a task that is polled often is kept once.
#[derive(Debug, Default)]
pub(super) struct Wakers {
    waiting: BTreeMap<u64, Waker>,
    n_keys: u64,
}

impl Wakers {
    /// Keeps the waker of a task, in place of its earlier one. The task keeps the key.
    pub(super) fn keep(&mut self, key: &mut Option<u64>, waker: &Waker) {
        let key = *key.get_or_insert_with(|| {
            self.n_keys += 1;
            self.n_keys
        });
        self.waiting.entry(key).and_modify(|kept| kept.clone_from(waker)).or_insert_with(|| waker.clone());
    }

    /// Forgets a task that waits no more.
    pub(super) fn forget(&mut self, key: Option<u64>) -> Option<Waker> {
        self.waiting.remove(&key?)
    }

    /// All wakers, to be woken once nothing is locked.
    #[must_use]
    pub(super) fn take(&mut self) -> Woken {
        Woken(std::mem::take(&mut self.waiting))
    }
}

/// Wakers on their way.
pub(super) struct Woken(BTreeMap<u64, Waker>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.into_values().for_each(Waker::wake);
    }
}
