//! State that the runs of a worker share: the settings, the runs and the steps.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolkit::{CancelToken, Context, Dispatcher};
use toolkit_runtime::Mutex;

use crate::contract::Contracts;
use crate::error::RunId;
use crate::store::Store;

/// A worker, for its runs.
pub(super) struct WorkerState {
    pub(super) dispatcher: Dispatcher,
    pub(super) context: Arc<ContextOf>,
    pub(super) settings: Settings,
    pub(super) store: Arc<dyn Store>,
    pub(super) name: WorkerName,
    pub(super) contracts: Contracts,
    /// The number of steps that run, and whether further ones may start.
    pub(super) steps: Steps,
    /// The runs of this worker, by the ids of their executions.
    runs: Mutex<HashMap<Arc<str>, RunningRun>>,
    /// The time at which the store last confirmed that this worker lives.
    confirmed: Mutex<Option<Instant>>,
}

/// A worker, as the store records it.
#[derive(Clone)]
pub(super) struct WorkerName {
    pub(super) id: String,
    pub(super) application: String,
    pub(super) version: String,
}

/// A run of this worker.
struct RunningRun {
    /// Ends the execution.
    token: CancelToken,
    /// Changes when a decision was recorded.
    n_decisions: watch::Sender<i64>,
    /// The number of steps that wait for a decision or a time.
    n_waiting: usize,
}

impl WorkerState {
    pub(super) fn new(
        dispatcher: Dispatcher,
        context: Arc<ContextOf>,
        settings: Settings,
        store: Arc<dyn Store>,
        application: &str,
    ) -> Self {
        let contracts = Contracts::new(dispatcher.catalog());
        let version = contracts.version();
        let id = format!("{version}/{}", uuid::Uuid::new_v4().simple());
        let name = WorkerName { id, application: application.to_owned(), version };
        let (steps, runs, confirmed) = (Steps::default(), Mutex::default(), Mutex::default());
        Self { dispatcher, context, settings, store, name, contracts, steps, runs, confirmed }
    }

    /// Adds a run, by the id of its execution, until the guard is dropped.
    pub(super) fn add(self: &Arc<Self>, execution: Arc<str>) -> OwnedRun {
        let (token, n_decisions) = (CancelToken::new(), watch::Sender::default());
        let decisions = n_decisions.subscribe();
        let run = RunningRun { token: token.clone(), n_decisions, n_waiting: 0 };
        self.runs.lock().insert(Arc::clone(&execution), run);
        OwnedRun { shared: Arc::clone(self), execution, token, decisions }
    }

    /// Returns the number of runs.
    pub(super) fn n_runs(&self) -> usize {
        self.runs.lock().len()
    }

    /// Returns the number of runs of which no step waits.
    pub(super) fn n_busy(&self) -> usize {
        self.runs.lock().values().filter(|run| run.n_waiting == 0).count()
    }

    /// Ends the executions of runs that do not belong to this worker any more, and informs the others about decisions. Returns
    /// the executions that the store assigns to this worker and that it does not run.
    pub(super) fn compare(&self, before: &[Arc<str>], mut owned: HashMap<String, i64>) -> Vec<String> {
        let runs = self.runs.lock();
        for execution in before {
            let assigned = owned.remove(&**execution);
            match (runs.get(execution), assigned) {
                (Some(run), Some(n)) => {
                    run.n_decisions.send_if_modified(|known| std::mem::replace(known, n) != n);
                }
                (Some(run), None) => run.token.cancel(),
                (None, _) => {}
            }
        }
        owned.into_keys().filter(|execution| !runs.contains_key(&**execution)).collect()
    }

    /// Returns the ids of the executions.
    pub(super) fn executions(&self) -> Vec<Arc<str>> {
        self.runs.lock().keys().cloned().collect()
    }

    pub(super) fn confirm(&self) {
        *self.confirmed.lock() = Some(Instant::now());
    }

    /// Returns the time since the store last confirmed that this worker lives.
    pub(super) fn lease_age(&self) -> Option<Duration> {
        self.confirmed.lock().map(|at| at.elapsed())
    }
}

/// A run that this worker executes until this is dropped.
pub(super) struct OwnedRun {
    shared: Arc<WorkerState>,
    /// The id of the execution.
    pub(super) execution: Arc<str>,
    /// Cancelled when the run no longer belongs to this execution.
    pub(super) token: CancelToken,
    /// Changes when a decision was recorded.
    pub(super) decisions: watch::Receiver<i64>,
}

impl OwnedRun {
    /// Counts a step that waits until the guard is dropped.
    pub(super) fn wait(&self) -> WaitingStep<'_> {
        self.count_waiting(|n| n + 1);
        WaitingStep(self)
    }

    fn count_waiting(&self, change: impl FnOnce(usize) -> usize) {
        if let Some(run) = self.shared.runs.lock().get_mut(&self.execution) {
            run.n_waiting = change(run.n_waiting);
        }
    }
}

impl Drop for OwnedRun {
    fn drop(&mut self) {
        self.shared.runs.lock().remove(&self.execution);
    }
}

/// A step that waits until this is dropped.
pub(super) struct WaitingStep<'r>(&'r OwnedRun);

impl Drop for WaitingStep<'_> {
    fn drop(&mut self) {
        self.0.count_waiting(|n| n - 1);
    }
}

/// Creates the context of the calls of a run.
pub(super) type ContextOf = dyn Fn(&RunId) -> Context + Send + Sync;

/// The settings of a worker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Settings {
    /// The number of runs of which no step waits.
    pub(super) max_runs: usize,
    /// The number of calls of a step whose tool may repeat and fails in a way that may pass.
    pub(super) max_attempts: u32,
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
            max_runs: 100,
            max_attempts: 4,
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

    /// Returns the number of steps that run.
    pub(super) fn n_running(&self) -> usize {
        self.0.borrow().n_running
    }

    /// Returns true if no further step starts.
    pub(super) fn is_draining(&self) -> bool {
        self.0.borrow().is_draining
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
