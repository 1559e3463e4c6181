//! A mutex that ignores panics.

use std::sync::{self, MutexGuard, PoisonError, TryLockError};

/// A [`std::sync::Mutex`] that stays usable after a thread has panicked while it held the lock.
///
/// Locks of this project are held for single steps, which leave their content whole.
#[derive(Debug, Default)]
pub struct Mutex<T>(sync::Mutex<T>);

impl<T> Mutex<T> {
    /// Creates an unlocked mutex.
    pub const fn new(content: T) -> Self {
        Self(sync::Mutex::new(content))
    }

    /// Waits until no other thread holds the lock.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns nothing if another thread holds the lock.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(content) => Some(content),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}
