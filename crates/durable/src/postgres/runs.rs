//! The runs in Postgres, as clients list, cancel and decide them.

use std::time::Duration;

use dbos::sysdb::SystemDatabase;
use dbos::sysdb::postgres::{PostgresSystemDatabase, Settings};
use dbos::sysdb::types::{Applications, Timestamp as EngineTime, WorkflowFilter, WorkflowRecord, WorkflowStatus};
use dbos::{Children, EnqueueOptions, WorkflowHandle};
use jiff::Timestamp;
use sqlx::postgres::PgPool;
use toolkit::ToolError;
use toolkit_backends::chain::ChainOutcome;

use crate::error::{DurableError, RunId};
use crate::postgres::names::{QUEUE, WORKFLOW};
use crate::postgres::session::{self, Address};
use crate::record::{AttemptPlace, Decision, RunInput};
use crate::store::{self, Phase, RunRecord, RunsPage, StoreAnswer};

/// The runs in a database.
pub(crate) struct Runs {
    engine: dbos::Client,
    /// Asks whether workers live.
    pool: PgPool,
    /// The runs of all applications.
    database: PostgresSystemDatabase,
}

impl Runs {
    pub(crate) async fn open(address: &Address) -> Result<Self, DurableError> {
        let engine = dbos::Client::connect(address.client()).await.map_err(DurableError::engine)?;
        let pool = address.pool(1).await?;
        let database = PostgresSystemDatabase::from_pool(pool.clone(), &Settings::default());
        Ok(Self { engine, pool, database })
    }
}

impl store::Runs for Runs {
    fn start<'a>(&'a self, id: &'a RunId, input: &'a RunInput) -> StoreAnswer<'a, ()> {
        Box::pin(async move {
            let options = EnqueueOptions { workflow_id: Some(id.as_str()), ..EnqueueOptions::new(QUEUE) };
            let started = self.engine.enqueue_with(WORKFLOW, input, options).await;
            let _: WorkflowHandle<ChainOutcome, ToolError> = started.map_err(DurableError::engine)?;
            Ok(())
        })
    }

    fn find<'a>(&'a self, id: &'a RunId, with_input: bool) -> StoreAnswer<'a, Option<RunRecord>> {
        Box::pin(async move {
            let filter = WorkflowFilter {
                workflow_ids: vec![id.as_str()],
                names: vec![WORKFLOW],
                load_input: with_input,
                load_output: false,
                ..WorkflowFilter::default()
            };
            let found = self.engine.list_workflows(&filter).await.map_err(DurableError::engine)?;
            Ok(found.into_iter().next().map(record))
        })
    }

    fn entries<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, Vec<(i32, Option<String>)>> {
        Box::pin(async {
            let entries = self.engine.list_workflow_steps(id.as_str()).await.map_err(DurableError::engine)?;
            Ok(entries.into_iter().map(|entry| (entry.step_id, entry.output)).collect())
        })
    }

    fn outcome<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ChainOutcome> {
        Box::pin(async {
            let handle: WorkflowHandle<ChainOutcome, ToolError> = self.engine.retrieve_workflow(id.as_str());
            handle.result().await.map_err(|error| match error {
                dbos::Error::Application(error) => DurableError::Rejected(error),
                dbos::Error::WorkflowCancelled { .. } | dbos::Error::AwaitedWorkflowCancelled { .. } => {
                    DurableError::Cancelled(id.clone())
                }
                dbos::Error::MaxRecoveryAttemptsExceeded { .. } => DurableError::Parked(id.clone()),
                error => DurableError::engine(error),
            })
        })
    }

    fn cancel<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()> {
        Box::pin(async { self.engine.cancel(id.as_str()).await.map_err(DurableError::engine) })
    }

    fn resume<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()> {
        Box::pin(async {
            let options = dbos::ResumeOptions { queue: Some(QUEUE) };
            let resumed = self.engine.resume_with::<ChainOutcome, ToolError>(id.as_str(), options).await;
            resumed.map(drop).map_err(DurableError::engine)
        })
    }

    fn decide<'a>(&'a self, id: &'a RunId, place: AttemptPlace, decision: &'a Decision) -> StoreAnswer<'a, ()> {
        Box::pin(async move {
            let topic = place.topic();
            // A second decision about the same attempt is never read.
            let options = dbos::SendOptions { topic: Some(&topic), ..dbos::SendOptions::default() };
            self.engine.send_with(id.as_str(), decision, options).await.map_err(DurableError::engine)
        })
    }

    fn list<'a>(&'a self, page: RunsPage<'a>) -> StoreAnswer<'a, Vec<RunRecord>> {
        Box::pin(async move {
            let number = |n: usize| Some(i64::try_from(n).unwrap_or(i64::MAX));
            let filter = WorkflowFilter {
                applications: match page.application {
                    None => Applications::Any,
                    Some(application) => Applications::Named(vec![application]),
                },
                names: vec![WORKFLOW],
                status: statuses(&page.phases),
                completed_before: page.ended_for.map(ago),
                limit: number(page.limit),
                offset: number(page.offset),
                sort_desc: true,
                load_input: false,
                load_output: false,
                ..WorkflowFilter::default()
            };
            let found = self.database.list_workflows(&filter, None).await.map_err(DurableError::engine)?;
            Ok(found.into_iter().map(record).collect())
        })
    }

    fn delete<'a>(&'a self, ids: &'a [&'a str]) -> StoreAnswer<'a, u64> {
        Box::pin(async {
            let phases: Vec<Phase> = Phase::ALL.into_iter().filter(|phase| phase.has_ended()).collect();
            let ended = WorkflowFilter {
                workflow_ids: ids.to_vec(),
                names: vec![WORKFLOW],
                status: statuses(&phases),
                load_input: false,
                load_output: false,
                ..WorkflowFilter::default()
            };
            let ended = self.engine.list_workflows(&ended).await.map_err(DurableError::engine)?;
            let ended: Vec<&str> = ended.iter().map(|run| run.workflow_id.as_str()).collect();
            self.engine.delete_all(&ended, Children::Skip).await.map_err(DurableError::engine)
        })
    }

    fn last_version<'a>(&'a self, application: &'a str) -> StoreAnswer<'a, Option<String>> {
        Box::pin(async move {
            let latest = self.database.get_latest_application_version(Some(application)).await;
            latest.map(|latest| latest.map(|it| it.version_name)).map_err(DurableError::engine)
        })
    }

    fn has_worker<'a>(&'a self, application: &'a str, version: &'a str) -> StoreAnswer<'a, bool> {
        Box::pin(async move {
            let mut look = self.pool.begin().await.map_err(DurableError::engine)?;
            let is_free = session::try_hold(&mut look, &session::presence(application, version)).await;
            is_free.map(|is_free| !is_free).map_err(DurableError::engine)
        })
    }
}

/// Returns the states of the engine of runs in these phases.
fn statuses(phases: &[Phase]) -> Vec<WorkflowStatus> {
    use WorkflowStatus::{Cancelled, Delayed, Enqueued, Error, MaxRecoveryAttemptsExceeded, Pending, Success};
    let all = [Pending, Enqueued, Delayed, Success, Error, Cancelled, MaxRecoveryAttemptsExceeded];
    all.into_iter().filter(|status| phases.contains(&phase(*status))).collect()
}

fn phase(status: WorkflowStatus) -> Phase {
    match status {
        WorkflowStatus::Success => Phase::Finished,
        WorkflowStatus::Error => Phase::Rejected,
        WorkflowStatus::Cancelled => Phase::Cancelled,
        WorkflowStatus::MaxRecoveryAttemptsExceeded => Phase::Parked,
        WorkflowStatus::Pending => Phase::Started,
        _ => Phase::Queued,
    }
}

fn record(record: WorkflowRecord) -> RunRecord {
    let time = |time: EngineTime| Timestamp::from_millisecond(time.as_epoch_ms()).unwrap_or_default();
    RunRecord {
        id: RunId::recorded(record.workflow_id),
        application: record.application_name,
        phase: phase(record.status),
        version: record.application_version,
        worker: record.executor_id,
        input: record.input,
        started: time(record.created_at),
        changed: time(record.updated_at),
    }
}

fn ago(time: Duration) -> EngineTime {
    let age = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
    EngineTime::from_epoch_ms(EngineTime::now().as_epoch_ms().saturating_sub(age))
}
