//! State that the runs of a worker share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolkit::{CancelToken, Dispatcher};
use toolkit_http::ToolPool;

use super::lease::Lease;
use super::settings::{ContextOf, Settings};
use super::steps::Steps;

/// A worker, for its runs.
pub(super) struct Shared {
    pub(super) dispatcher: Dispatcher,
    pub(super) context: Arc<ContextOf>,
    pub(super) settings: Settings,
    pub(super) pool: ToolPool,
    pub(super) lease: Arc<Lease>,
    /// The number of steps that run, and whether further ones may start.
    pub(super) steps: Steps,
    /// The runs of this worker, and the tokens that end them.
    runs: Mutex<Runs>,
}

#[derive(Default)]
struct Runs {
    tokens: HashMap<Arc<str>, (u64, CancelToken)>,
    n_started: u64,
}

impl Shared {
    pub(super) fn new(dispatcher: Dispatcher, context: Arc<ContextOf>, settings: Settings, lease: Arc<Lease>) -> Self {
        let pool = ToolPool::shared();
        Self { dispatcher, context, settings, pool, lease, steps: Steps::default(), runs: Mutex::default() }
    }

    /// Adds a run until the guard is dropped.
    pub(super) fn add(&self, id: &Arc<str>) -> Running<'_> {
        let token = CancelToken::new();
        let mut runs = self.runs();
        runs.n_started += 1;
        let number = runs.n_started;
        runs.tokens.insert(Arc::clone(id), (number, token.clone()));
        Running { shared: self, id: Arc::clone(id), number, token }
    }

    /// Returns the ids of the runs.
    pub(super) fn running(&self) -> Vec<Arc<str>> {
        self.runs().tokens.keys().cloned().collect()
    }

    /// Ends a run that does not belong to this worker any more.
    pub(super) fn end(&self, id: &str) {
        if let Some((_, token)) = self.runs().tokens.get(id) {
            token.cancel();
        }
    }

    fn runs(&self) -> MutexGuard<'_, Runs> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A run of this worker.
pub(super) struct Running<'s> {
    shared: &'s Shared,
    id: Arc<str>,
    number: u64,
    pub(super) token: CancelToken,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut runs = self.shared.runs();
        // Another execution of the same run may have started meanwhile.
        if runs.tokens.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            runs.tokens.remove(&self.id);
        }
    }
}
