//! The queue: a worker takes the runs that its tools can run while it has room for them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinSet;
use toolkit::ToolError;
use toolkit::call::ErrorKind;

use crate::error::{DurableError, RunId};
use crate::record::RunInput;
use crate::runs::Runs;
use crate::sql::{Row, Statement};
use crate::store::{POLL, Phase, QueueStatus, now};
use crate::worker::execution::{Execution, Stop};
use crate::worker::run::{self, RunEnd};
use crate::worker::shared::{OwnedRun, WorkerName, WorkerState};

/// The number of executions after which a run is given up.
const MAX_EXECUTIONS: i64 = 100;

/// The number of runs that a worker takes at once, so that others can take runs, too.
const BATCH: usize = 16;

/// The number of contracts that a worker remembers.
const MAX_CONTRACTS: usize = 1_000;

/// The contracts to which the queued runs of an application are bound; absent for new runs.
const CONTRACTS: &str = "SELECT DISTINCT contract FROM toolkit_runs WHERE application = ?1 AND phase = 'queued'";

/// The worker of an application that started last, which takes new runs, as do all with the same tools.
const NEWEST: &str = "SELECT version FROM toolkit_workers WHERE application = ?1 ORDER BY rank DESC, version LIMIT 1";

/// A run that this worker has taken.
struct TakenRun {
    seq: i64,
    run: RunId,
    input: String,
    n_executions: i64,
    has_contract: bool,
    owned: OwnedRun,
}

/// Takes runs until it is dropped, which ends their executions.
pub(super) async fn take_runs(worker: &Arc<WorkerState>) {
    let mut executions = JoinSet::new();
    let mut fitting = HashMap::new();
    loop {
        // A run whose execution panics is queued again, since it has no outcome.
        while executions.try_join_next().is_some() {}
        let room = worker.settings.max_runs.saturating_sub(worker.n_busy()).min(BATCH);
        if room == 0 || worker.steps.is_draining() {
            tokio::time::sleep(POLL).await;
            continue;
        }
        let taken = match take(worker, room, &mut fitting).await {
            Ok(taken) => taken,
            Err(error) => {
                tracing::warn!(%error, "cannot look for runs");
                tokio::time::sleep(10 * POLL).await;
                continue;
            }
        };
        let is_batch = taken.len() >= room;
        for taken in taken {
            executions.spawn(execute(Arc::clone(worker), taken));
        }
        if !is_batch {
            tokio::time::sleep(POLL).await;
        }
    }
}

/// Takes at most `room` runs from the queue.
async fn take(
    worker: &Arc<WorkerState>,
    room: usize,
    fitting: &mut HashMap<String, bool>,
) -> Result<Vec<TakenRun>, DurableError> {
    let application = &*worker.name.application;
    let look = [CONTRACTS, NEWEST].map(|look| Statement::read(look).bind(application));
    let rows = worker.store.run(look.into()).await?;
    let [contracts, newest] = <[Vec<Row>; 2]>::try_from(rows).unwrap_or_default();
    let is_newest = newest.into_iter().next().is_none_or(|mut row| row.text(0) == worker.name.version);
    if fitting.len() > MAX_CONTRACTS {
        fitting.clear();
    }
    let mut taken = Vec::new();
    for contract in contracts.into_iter().map(|mut row| row.take_text(0)) {
        let can_run = match &contract {
            None => is_newest,
            Some(contract) => match fitting.get(contract) {
                Some(fits) => *fits,
                None => *fitting.entry(contract.clone()).or_insert_with(|| worker.contracts.fit(contract)),
            },
        };
        if can_run && taken.len() < room {
            taken.extend(take_bound(worker, contract.as_deref(), room - taken.len()).await?);
        }
    }
    taken.sort_by_key(|taken| taken.seq);
    bind(worker, &taken).await?;
    Ok(taken)
}

/// Takes runs with a contract, or new ones.
async fn take_bound(
    worker: &Arc<WorkerState>,
    contract: Option<&str>,
    room: usize,
) -> Result<Vec<TakenRun>, DurableError> {
    let is_bound = if contract.is_some() { "contract = ?3" } else { "contract IS NULL AND ?3 IS NULL" };
    let WorkerName { id, application, version } = &worker.name;
    let take = format!(
        "WITH taken AS MATERIALIZED (SELECT seq FROM toolkit_runs WHERE application = ?1 AND phase = ?2 AND {is_bound} \
         ORDER BY seq LIMIT ?4{}) \
         UPDATE toolkit_runs SET phase = 'started', version = ?5, worker = ?6, execution = ?7 || '/' || id, \
         n_executions = n_executions + 1, changed = ?8 FROM taken WHERE toolkit_runs.seq = taken.seq \
         RETURNING toolkit_runs.seq, id, input, n_executions, contract, execution",
        worker.store.clauses().skip
    );
    let statement = Statement::write(take)
        .bind(&**application)
        .bind(Phase::Queued.name())
        .bind(contract)
        .bind(room)
        .bind(&**version)
        .bind(&**id)
        .bind(&*uuid::Uuid::new_v4().to_string())
        .bind(now());
    let rows = worker.store.run(vec![statement]).await?;
    let run = |mut row: Row| TakenRun {
        seq: row.integer(0),
        run: RunId::recorded(row.text(1)),
        input: row.text(2),
        n_executions: row.integer(3),
        has_contract: row.take_text(4).is_some(),
        owned: worker.add(row.text(5).into()),
    };
    Ok(rows.into_iter().flatten().map(run).collect())
}

/// Binds new runs to the contracts of the tools of their chains.
async fn bind(worker: &WorkerState, taken: &[TakenRun]) -> Result<(), DurableError> {
    let bind = |taken: &TakenRun| {
        let input: RunInput = serde_json::from_str(&taken.input).ok()?;
        let bind = Statement::write("UPDATE toolkit_runs SET contract = ?3 WHERE id = ?1 AND execution = ?2");
        let bind = bind.bind(taken.run.as_str()).bind(&*taken.owned.execution);
        Some(bind.bind(&*worker.contracts.of_chain(&input.chain)))
    };
    let bound: Vec<Statement> = taken.iter().filter(|taken| !taken.has_contract).filter_map(bind).collect();
    if bound.is_empty() {
        return Ok(());
    }
    worker.store.run(bound).await.map(drop)
}

/// Runs a chain, and records its outcome.
async fn execute(worker: Arc<WorkerState>, taken: TakenRun) {
    let TakenRun { run, input, n_executions, owned, .. } = taken;
    let execution = Execution::new(Arc::clone(&worker.store), run, Arc::clone(&owned.execution));
    if n_executions > MAX_EXECUTIONS {
        return execution.end(Phase::Parked, None, None).await;
    }
    let ended = match serde_json::from_str(&input) {
        Ok(input) => run::run(&worker, &execution, owned, input, n_executions).await,
        Err(error) => {
            let message = format!("the recorded chain is damaged: {error}");
            Err(RunEnd::Rejected(ToolError::new(ErrorKind::InvalidArguments, message)))
        }
    };
    let (phase, outcome, error) = match ended {
        Ok(outcome) => {
            let error = outcome.error().map(ToString::to_string);
            let phase = if error.is_some() { Phase::Failed } else { Phase::Finished };
            (phase, serde_json::to_string(&outcome), error)
        }
        Err(RunEnd::Rejected(error)) => (Phase::Rejected, serde_json::to_string(&error), Some(error.to_string())),
        Err(RunEnd::Stopped(Stop::Lost)) => return,
        Err(RunEnd::Stopped(Stop::Damaged(error))) => {
            tracing::error!(%error, run = %execution.run, "cannot continue a run");
            return;
        }
    };
    match outcome {
        Ok(outcome) => execution.end(phase, Some(outcome), error).await,
        Err(error) => tracing::error!(%error, run = %execution.run, "cannot record the outcome of a run"),
    }
}

/// Returns the queue of the application.
pub(super) async fn status(worker: &WorkerState) -> Result<QueueStatus, DurableError> {
    let WorkerName { application, version, .. } = &worker.name;
    let counts = "SELECT phase, count(*), min(changed) FROM toolkit_runs WHERE application = ?1 \
                  AND phase IN ('queued', 'started', 'failed', 'parked') GROUP BY phase";
    let rows = worker.store.run(vec![Statement::read(counts).bind(&**application)]).await?;
    let runs = Runs::new(Arc::clone(&worker.store), application.clone());
    let n_workers = runs.workers().await?.count(application, version) as u64;
    let mut status = QueueStatus { n_workers, ..QueueStatus::default() };
    for mut row in rows.into_iter().flatten() {
        let n = row.integer(1).unsigned_abs();
        match Phase::from_name(&row.text(0)) {
            Some(Phase::Queued) => {
                status.n_queued = n;
                let age = u64::try_from(now().saturating_sub(row.integer(2))).unwrap_or(0);
                status.oldest_queued = Duration::from_millis(age);
            }
            Some(Phase::Started) => status.n_started = n,
            Some(Phase::Failed) => status.n_failed = n,
            _ => status.n_parked = n,
        }
    }
    Ok(status)
}
