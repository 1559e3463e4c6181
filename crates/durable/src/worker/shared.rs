//! State that the runs of a worker share: the settings, the runs and the steps. Ends runs that the record assigns to others.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use toolkit::{CancelToken, Context, Dispatcher};

use crate::error::{DurableError, RunId};
use crate::store::{LOOK_TIMEOUT, Lease};

/// A worker, for its runs.
pub(super) struct Shared {
    pub(super) dispatcher: Dispatcher,
    pub(super) context: Arc<ContextOf>,
    pub(super) settings: Settings,
    pub(super) lease: Arc<dyn Lease>,
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
    pub(super) fn new(
        dispatcher: Dispatcher,
        context: Arc<ContextOf>,
        settings: Settings,
        lease: Arc<dyn Lease>,
    ) -> Self {
        Self { dispatcher, context, settings, lease, steps: Steps::default(), runs: Mutex::default() }
    }

    /// Adds a run until the guard is dropped.
    pub(super) fn add(&self, id: &Arc<str>) -> Running<'_> {
        let token = CancelToken::new();
        let mut runs = self.runs();
        runs.n_started += 1;
        let number = runs.n_started;
        // Another execution of the same run no longer owns it.
        if let Some((_, former)) = runs.tokens.insert(Arc::clone(id), (number, token.clone())) {
            former.cancel();
        }
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

    /// Returns the number of steps that run.
    pub(super) fn n_running(&self) -> usize {
        self.0.borrow().n_running
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

/// The interval of looks. All runs of the worker share one query.
const INTERVAL: Duration = Duration::from_millis(500);

/// The time that the execution of an assigned run may take to start: a worker takes all queued runs at once, and starts one after
/// the other. A second execution would end the first one within a step, whose effect may have happened.
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// Ends the executions of runs that were cancelled, or that another worker has taken over, and queues runs again whose
/// execution has ended without an outcome, such as by an error of the database.
pub(super) async fn watch_owned(shared: &Shared) {
    let (mut orphans, mut started) = (HashMap::new(), HashSet::new());
    loop {
        tokio::time::sleep(INTERVAL).await;
        match tokio::time::timeout(LOOK_TIMEOUT, look(shared, &mut orphans, &mut started)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot look for the runs of this worker"),
            Err(_) => tracing::warn!("cannot look for the runs of this worker: the database does not answer"),
        }
    }
}

/// `orphans` are the assigned runs without an execution, and `started` those whose execution was seen.
async fn look(
    shared: &Shared,
    orphans: &mut HashMap<String, Instant>,
    started: &mut HashSet<Arc<str>>,
) -> Result<(), DurableError> {
    // Before the query: a run is assigned before its execution starts.
    let running = shared.running();
    let owned = shared.lease.owned().await?;
    running.iter().filter(|id| !owned.contains(&***id)).for_each(|id| shared.end(id));

    let running: HashSet<_> = shared.running().into_iter().collect();
    started.extend(running.iter().cloned());
    started.retain(|id| owned.contains(&**id));
    orphans.retain(|id, _| owned.contains(id) && !running.contains(&**id));
    for id in owned.into_iter().filter(|id| !running.contains(&**id)) {
        let after = match started.contains(&*id) {
            true => shared.settings.takeover_after,
            false => shared.settings.takeover_after.max(START_TIMEOUT),
        };
        if orphans.entry(id.clone()).or_insert_with(Instant::now).elapsed() >= after {
            tracing::info!(run = id, "the execution of a run has ended without an outcome; it is queued again");
            shared.lease.requeue(&id).await?;
            started.remove(&*id);
            orphans.remove(&id);
        }
    }
    Ok(())
}
