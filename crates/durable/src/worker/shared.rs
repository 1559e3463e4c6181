//! State that the runs of a worker share: the settings, the runs and the steps. Ends runs that the record assigns to others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::watch;
use toolkit::{CancelToken, Context, Dispatcher};

use crate::error::{DurableError, RunId};
use crate::store::{LOOK_TIMEOUT, Lease};

/// A worker, for its runs.
pub(super) struct WorkerState {
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
    /// The runs whose execution has ended, until the store no longer assigns them to this worker. True if the execution had an
    /// outcome, which the store records afterwards.
    ended: HashMap<Arc<str>, bool>,
    /// The number of executions that have started, and of those that have ended.
    n_changes: u64,
}

impl WorkerState {
    pub(super) fn new(
        dispatcher: Dispatcher,
        context: Arc<ContextOf>,
        settings: Settings,
        lease: Arc<dyn Lease>,
    ) -> Self {
        Self { dispatcher, context, settings, lease, steps: Steps::default(), runs: Mutex::default() }
    }

    /// Adds a run until the guard is dropped.
    pub(super) fn add(&self, id: &Arc<str>) -> OwnedRun<'_> {
        let token = CancelToken::new();
        let mut runs = self.runs();
        runs.n_changes += 1;
        let number = runs.n_changes;
        runs.ended.remove(id);
        // Another execution of the same run no longer owns it.
        if let Some((_, former)) = runs.tokens.insert(Arc::clone(id), (number, token.clone())) {
            former.cancel();
        }
        OwnedRun { shared: self, id: Arc::clone(id), number, token, has_outcome: false }
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
pub(super) struct OwnedRun<'s> {
    shared: &'s WorkerState,
    id: Arc<str>,
    number: u64,
    pub(super) token: CancelToken,
    /// True if the execution ends with an outcome.
    pub(super) has_outcome: bool,
}

impl Drop for OwnedRun<'_> {
    fn drop(&mut self) {
        let mut runs = self.shared.runs();
        // Another execution of the same run may have started meanwhile.
        if runs.tokens.get(&self.id).is_some_and(|(number, _)| *number == self.number) {
            runs.tokens.remove(&self.id);
            runs.ended.insert(Arc::clone(&self.id), self.has_outcome);
        }
        runs.n_changes += 1;
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

/// The time for which no execution of this worker may start or end until it queues assigned runs without an execution again. The
/// engine takes all queued runs at once and starts one after the other, however long that takes; the engine also pauses for up to
/// 90 seconds between two attempts when the database has failed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(120);

/// Returns the number of looks in a time. Times are counted in successful looks, so that they contain neither the time in which
/// this process was suspended nor that in which the store did not answer.
fn looks(time: Duration) -> u128 {
    time.as_millis().div_ceil(INTERVAL.as_millis())
}

/// Ends the executions of runs that were cancelled, or that another worker has taken over, and queues runs again whose
/// execution has ended without an outcome, such as by an error of the database.
pub(super) async fn watch_owned(shared: &WorkerState) {
    let mut seen = Seen::default();
    loop {
        tokio::time::sleep(INTERVAL).await;
        match tokio::time::timeout(LOOK_TIMEOUT, look(shared, &mut seen)).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot look for the runs of this worker"),
            Err(_) => tracing::warn!("cannot look for the runs of this worker: the database does not answer"),
        }
    }
}

/// What the looks at the runs of this worker have seen.
#[derive(Default)]
struct Seen {
    /// The assigned runs without an execution, and the number of looks in a row that found them so.
    orphans: HashMap<String, u128>,
    /// The number of executions that had started or ended, and the number of looks in a row that found the same number.
    n_changes: u64,
    n_idle: u128,
}

async fn look(shared: &WorkerState, seen: &mut Seen) -> Result<(), DurableError> {
    // Before the query: a run is assigned before its execution starts.
    let running = shared.running();
    let ended: Vec<Arc<str>> = shared.runs().ended.keys().cloned().collect();
    let owned = shared.lease.owned().await?;
    running.iter().filter(|id| !owned.contains_key(&***id)).for_each(|id| shared.end(id));
    let lost = {
        let mut runs = shared.runs();
        ended.iter().filter(|id| !owned.contains_key(&***id)).for_each(|id| _ = runs.ended.remove(id));
        seen.orphans(&mut runs, owned, shared.settings.takeover_after)
    };
    for id in lost {
        tracing::info!(run = id, "the execution of a run has ended without an outcome; it is queued again");
        shared.lease.requeue(&id).await?;
    }
    Ok(())
}

impl Seen {
    /// Returns the runs to queue again. A run that waits for its start, or whose outcome is being recorded, belongs to this
    /// worker.
    fn orphans(&mut self, runs: &mut Runs, owned: HashMap<String, i64>, takeover_after: Duration) -> Vec<String> {
        self.n_idle = if self.n_changes == runs.n_changes { self.n_idle + 1 } else { 0 };
        self.n_changes = runs.n_changes;
        let has_started = |id: &str| runs.tokens.contains_key(id) || runs.ended.contains_key(id);
        let last_started = owned.iter().filter(|(id, _)| has_started(id)).map(|(_, assigned)| *assigned).max();
        let mut former = std::mem::take(&mut self.orphans);
        let mut lost = Vec::new();
        for (id, assigned) in owned.into_iter().filter(|(id, _)| !runs.tokens.contains_key(&**id)) {
            let n_looks = former.remove(&id).unwrap_or(0) + 1;
            let is_certain = match runs.ended.get(&*id) {
                Some(has_outcome) => !has_outcome,
                // The engine could not start it: runs start in the order of their assignments.
                None => Some(assigned) < last_started,
            };
            let is_lost = match is_certain {
                true => n_looks > looks(takeover_after),
                false => n_looks.min(self.n_idle) > looks(takeover_after.max(IDLE_TIMEOUT)),
            };
            if is_lost {
                runs.ended.remove(&*id);
                lost.push(id);
            } else {
                self.orphans.insert(id, n_looks);
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEOVER: Duration = Duration::from_secs(5);

    /// The runs of a worker, as its store assigns them.
    #[derive(Default)]
    struct Assigned {
        runs: Runs,
        seen: Seen,
        owned: HashMap<String, i64>,
    }

    impl Assigned {
        fn new<const N: usize>(owned: [(&str, i64); N]) -> Self {
            let owned = owned.map(|(id, assigned)| (id.to_owned(), assigned)).into();
            Self { owned, ..Self::default() }
        }

        fn starts(&mut self, id: &str) {
            self.runs.n_changes += 1;
            self.runs.tokens.insert(id.into(), (self.runs.n_changes, CancelToken::new()));
        }

        fn ends(&mut self, id: &str, has_outcome: bool) {
            self.runs.n_changes += 1;
            self.runs.tokens.remove(id);
            self.runs.ended.insert(id.into(), has_outcome);
        }

        fn look(&mut self) -> Vec<String> {
            self.seen.orphans(&mut self.runs, self.owned.clone(), TAKEOVER)
        }

        /// Looks for a time, and returns the runs that are queued again.
        fn look_for(&mut self, time: Duration) -> Vec<String> {
            (0..looks(time)).flat_map(|_| self.look()).collect()
        }
    }

    #[test]
    fn a_run_that_waits_for_its_start_stays_with_its_worker_however_long_the_queue_is() {
        const N_RUNS: usize = 150;
        let mut assigned = Assigned::new([]);
        assigned.owned.extend((0..N_RUNS).map(|nth| (nth.to_string(), 7)));
        for nth in 0..N_RUNS {
            let id = nth.to_string();
            // The last one starts after half an hour.
            assert_eq!(assigned.look_for(Duration::from_secs(10)), Vec::<String>::new(), "after {nth} starts");
            assigned.starts(&id);
            assigned.look();
            assigned.ends(&id, true);
            assigned.owned.remove(&id);
            assigned.runs.ended.clear();
        }
    }

    #[test]
    fn a_run_that_the_engine_could_not_start_is_queued_again() {
        let mut assigned = Assigned::new([("failed", 1), ("started", 2), ("waits", 2)]);
        assert!(assigned.look_for(TAKEOVER).is_empty());
        // Runs start in the order of their assignments.
        assigned.starts("started");
        assert_eq!(assigned.look_for(TAKEOVER), ["failed"]);
        assigned.owned.remove("failed");
        // Nothing starts or ends any more.
        assert!(assigned.look_for(IDLE_TIMEOUT - TAKEOVER).is_empty());
        assert_eq!(assigned.look_for(2 * TAKEOVER), ["waits"]);
    }

    #[test]
    fn a_run_is_queued_again_whose_execution_has_ended_without_an_outcome() {
        let mut assigned = Assigned::new([("failed", 1), ("finished", 1), ("running", 1)]);
        for id in ["failed", "finished", "running"] {
            assigned.starts(id);
        }
        assert!(assigned.look_for(IDLE_TIMEOUT).is_empty());
        assigned.ends("failed", false);
        assigned.ends("finished", true);
        assert!(assigned.look_for(TAKEOVER).is_empty());
        assert_eq!(assigned.look(), ["failed"]);
        // The engine records the outcome of the other one, as soon as the database answers.
        assigned.owned.remove("failed");
        assert!(assigned.look_for(IDLE_TIMEOUT / 2).is_empty());
    }
}
