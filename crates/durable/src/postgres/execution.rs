//! A run as a workflow of the engine, and the entries of its steps.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use dbos::PendingStep;
use toolkit::ToolError;
use toolkit::call::BoxFuture;

use crate::error::RunId;
use crate::layout::{Entry, MAX_ATTEMPTS, Place};
use crate::postgres::lease::Lease;
use crate::record::{Attempt, Decision};
use crate::store::{self, StepEntries};

/// An error of the engine, or of a tool.
pub(crate) type EngineError = dbos::Error<ToolError>;

/// An execution of a run by a worker.
pub(crate) struct Execution {
    lease: Arc<Lease>,
    run: RunId,
    /// A random id, which the guards record.
    id: Arc<str>,
    /// The names that the entries of the run borrow.
    topics: Vec<String>,
}

impl Execution {
    pub(super) fn new(lease: Arc<Lease>, run: RunId, n_steps: usize) -> Self {
        let places = (0..n_steps).flat_map(|step| (0..MAX_ATTEMPTS).map(move |attempt| Place { step, attempt }));
        let topics = places.map(Place::topic).collect();
        Self { lease, run, id: uuid::Uuid::new_v4().to_string().into(), topics }
    }
}

impl store::Execution for Execution {
    type Error = EngineError;

    fn run(&self) -> &RunId {
        &self.run
    }

    fn n_executions(&self) -> BoxFuture<'_, Result<i64, EngineError>> {
        Box::pin(async {
            let n = self.lease.n_continued(self.run.as_str()).await;
            n.map_err(dbos::Error::SystemDatabase)
        })
    }

    fn step(&self, step: usize, decision_timeout: Duration) -> Box<dyn StepEntries<EngineError> + '_> {
        let attempts = (0..MAX_ATTEMPTS).map(|attempt| {
            let topic = &self.topics[step * MAX_ATTEMPTS + attempt];
            Entries::new(Place { step, attempt }, &self.id, topic, decision_timeout)
        });
        Box::new(Step { execution: self, step, attempts: attempts.collect() })
    }
}

/// The entries of a step, in the order in which they are used.
struct Step<'r> {
    execution: &'r Execution,
    step: usize,
    attempts: Vec<Entries<'r>>,
}

/// The entries of one attempt, each until it is used.
struct Entries<'r> {
    guard: Option<PendingStep<'r, String, ToolError>>,
    result: Option<PendingStep<'r, Attempt, ToolError>>,
    decision: Option<PendingStep<'r, Option<Decision>, ToolError>>,
    /// The attempt, which is known when it starts.
    make: Arc<Mutex<Option<BoxFuture<'static, Attempt>>>>,
}

impl<'r> Entries<'r> {
    /// Creates the entries of an attempt. The order decides their numbers; see [`Place::number`].
    fn new(place: Place, execution: &str, topic: &'r str, timeout: Duration) -> Self {
        let execution = execution.to_owned();
        let guard = dbos::step(&place.guard_name(), move || {
            let execution = execution.clone();
            async move { Ok(execution) }
        });
        debug_assert_eq!(guard.step_id(), Some(place.number(Entry::Guard)));
        let make: Arc<Mutex<Option<BoxFuture<'static, Attempt>>>> = Arc::default();
        let made = Arc::clone(&make);
        let result = dbos::step(&place.result_name(), move || {
            let attempt = made.lock().unwrap_or_else(PoisonError::into_inner).take();
            async move { Ok(attempt.expect("the attempt is known before it starts").await) }
        });
        let decision = dbos::recv(Some(topic), timeout);
        Self { guard: Some(guard), result: Some(result), decision: Some(decision), make }
    }
}

/// The use of an entry, which is used once.
const ONCE: &str = "an entry is used once";

impl StepEntries<EngineError> for Step<'_> {
    fn guard(&mut self, attempt: usize) -> BoxFuture<'_, Result<bool, EngineError>> {
        let guard = self.attempts[attempt].guard.take().expect(ONCE);
        let Execution { lease, run, id, .. } = self.execution;
        let place = Place { step: self.step, attempt };
        Box::pin(async move {
            match guard.await? == **id {
                true => lease.is_guard(run.as_str(), place, id).await.map_err(dbos::Error::SystemDatabase),
                false => Ok(false),
            }
        })
    }

    fn result(
        &mut self,
        attempt: usize,
        make: BoxFuture<'static, Attempt>,
    ) -> BoxFuture<'_, Result<Attempt, EngineError>> {
        let entries = &mut self.attempts[attempt];
        *entries.make.lock().unwrap_or_else(PoisonError::into_inner) = Some(make);
        let result = entries.result.take().expect(ONCE);
        Box::pin(async { result.await.or_else(failed) })
    }

    fn decision(&mut self, attempt: usize) -> BoxFuture<'_, Result<Option<Decision>, EngineError>> {
        Box::pin(self.attempts[attempt].decision.take().expect(ONCE))
    }
}

/// Returns the last error of a tool that did not start, as earlier versions recorded it.
fn failed(error: EngineError) -> Result<Attempt, EngineError> {
    let error = match error {
        dbos::Error::MaxStepRetriesExceeded { mut errors, .. } if !errors.is_empty() => errors.remove(errors.len() - 1),
        error => error,
    };
    match error {
        dbos::Error::Application(error) => Ok(Attempt::Done { result: Err(error), duration: Duration::ZERO }),
        error => Err(error),
    }
}
