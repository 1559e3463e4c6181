//! State that the runs of a worker share: the settings, the runs and the steps.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolkit::{CancelToken, Context, Dispatcher};

use super::lease::Lease;
use crate::run_id::RunId;

/// A worker, for its runs.
pub(super) struct Shared {
    pub(super) dispatcher: Dispatcher,
    pub(super) context: Arc<ContextOf>,
    pub(super) settings: Settings,
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
        Self { dispatcher, context, settings, lease, steps: Steps::default(), runs: Mutex::default() }
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

/// Creates the context of the calls of a run.
pub(super) type ContextOf = dyn Fn(&RunId) -> Context + Send + Sync;

/// The settings of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The time that a step waits for a decision.
    pub(super) decision_timeout: Duration,
    /// The time after which the runs of a dead worker are continued.
    pub(super) takeover_after: Duration,
    /// The time that running steps have when the worker ends.
    pub(super) shutdown_timeout: Duration,
    /// True unless a test shows what the guard prevents.
    pub(super) is_guarded: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            decision_timeout: Duration::from_secs(365 * 24 * 60 * 60),
            takeover_after: Duration::from_secs(5),
            shutdown_timeout: Duration::from_secs(30),
            is_guarded: true,
        }
    }
}

/// The number of steps that run, and whether further ones may start.
pub(super) struct Steps(watch::Sender<Counts>);

#[derive(Clone, Copy, Default)]
struct Counts {
    n_running: usize,
    is_draining: bool,
}

/// A step that runs until this is dropped.
pub(super) struct Started<'s>(&'s Steps);

impl Steps {
    /// Starts a step. Never completes if the worker ends: another one starts the step.
    pub(super) async fn start(&self) -> Started<'_> {
        let may_start = self.0.send_if_modified(|state| {
            state.n_running += usize::from(!state.is_draining);
            !state.is_draining
        });
        match may_start {
            true => Started(self),
            false => std::future::pending().await,
        }
    }

    /// Prevents further steps from starting, and waits for those that run.
    pub(super) async fn drain(&self) {
        self.0.send_modify(|state| state.is_draining = true);
        // The sender is not dropped meanwhile.
        let _ = self.0.subscribe().wait_for(|state| state.n_running == 0).await;
    }
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        self.0.0.send_modify(|state| state.n_running -= 1);
    }
}

impl Default for Steps {
    fn default() -> Self {
        Self(watch::Sender::new(Counts::default()))
    }
}
