//! Workers that wait for programs.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::super::super::limits::Limits;
use super::super::SandboxError;
use super::child::Worker;
use super::start::Starter;

/// Workers that are started and confined, all for the same limits. Each is used once.
#[derive(Default)]
pub(super) struct Pool {
    size: usize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Those of the session that was opened last.
    limits: Option<Limits>,
    workers: VecDeque<Worker>,
    n_starting: usize,
}

/// The time between the use of a worker and the start of the next one, which would slow down the first.
const REFILL_DELAY: Duration = Duration::from_millis(10);

impl Pool {
    pub(super) fn new(size: usize) -> Self {
        Self { size, state: Mutex::default() }
    }

    pub(super) fn size(&self) -> usize {
        self.size
    }

    /// Returns a worker for these limits. Workers for other limits are dropped.
    pub(super) fn take(&self, limits: &Limits) -> Option<Worker> {
        // It is dropped after the lock.
        let mut dropped = Vec::new();
        let mut state = self.state();
        if state.limits != Some(*limits) {
            state.limits = Some(*limits);
            dropped.extend(state.workers.drain(..));
        }
        while let Some(mut worker) = state.workers.pop_front() {
            if worker.is_alive() {
                return Some(worker);
            }
            dropped.push(worker);
        }
        None
    }

    /// Starts the workers that are missing, in the background.
    pub(super) fn refill(this: &Arc<Self>, starter: &Starter, limits: &Limits) {
        let mut state = this.state();
        let n_missing = this.size.saturating_sub(state.workers.len() + state.n_starting);
        state.n_starting += n_missing;
        drop(state);
        for _ in 0..n_missing {
            let (pool, starter, limits) = (Arc::downgrade(this), starter.clone(), *limits);
            tokio::spawn(async move {
                tokio::time::sleep(REFILL_DELAY).await;
                let started = starter.start(&limits).await;
                let Some(pool) = pool.upgrade() else { return };
                pool.state().n_starting -= 1;
                match started {
                    Ok(worker) => pool.put(worker, &limits),
                    // The next session starts a worker itself and returns its error.
                    Err(error) => tracing::warn!(%error, "no worker could be started ahead of time"),
                }
            });
        }
    }

    /// Starts the workers that are missing.
    pub(super) async fn fill(&self, starter: &Starter, limits: &Limits) -> Result<(), SandboxError> {
        self.state().limits = Some(*limits);
        while self.state().workers.len() < self.size {
            let worker = starter.start(limits).await?;
            self.put(worker, limits);
        }
        Ok(())
    }

    /// Keeps a worker unless sessions have other limits by now.
    fn put(&self, worker: Worker, limits: &Limits) {
        let mut state = self.state();
        if state.limits == Some(*limits) && state.workers.len() < self.size {
            state.workers.push_back(worker);
            return;
        }
        drop(state);
        drop(worker);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool").field("size", &self.size).finish_non_exhaustive()
    }
}
