//! The upkeep of a worker: it gives signs that it lives, compares its runs with the record, and removes dead workers, whose runs
//! are queued again. One is dead after `takeover_after` of `shared`; clients take it for dead after `MAX_SIGN_AGE` of `store`.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use tokio::time::timeout;

use crate::error::DurableError;
use crate::sql::Statement;
use crate::store::{Sign, now};
use crate::worker::shared::{WorkerName, WorkerState};

/// The interval at which a worker gives a sign and looks at the others.
const INTERVAL: Duration = Duration::from_millis(500);

/// The minimum time without a sign after which a worker whose process may live counts as dead: several intervals.
const MIN_SILENCE: Duration = Duration::from_secs(3);

/// The time that a look may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// The executions of the runs of a worker, with a number that changes with each decision and each end of a child.
const OWNED: &str = "SELECT execution, n_decisions + \
     (SELECT count(*) FROM toolkit_runs AS child WHERE child.parent = run.id AND child.phase NOT IN ('queued', 'started')) \
     FROM toolkit_runs AS run WHERE worker = ?1 AND phase = 'started'";

/// The condition of the runs of workers that are not registered.
const LEFT: &str = "phase = 'started' \
     AND NOT EXISTS (SELECT id FROM toolkit_workers WHERE toolkit_workers.id = toolkit_runs.worker)";

/// The memory of a worker from one round of upkeep to the next.
#[derive(Default)]
struct Looks {
    /// The last sign of each other worker, and the time at which this one saw it first.
    signs: HashMap<String, (Sign, Instant)>,
    /// The executions of this worker that it did not run.
    absent: HashSet<String>,
    /// The rank of this worker.
    rank: Option<i64>,
}

/// Registers a worker, and returns its upkeep, which ends if the record is gone.
pub(super) async fn register(worker: &WorkerState) -> Result<impl Future<Output = DurableError>, DurableError> {
    let mut looks = Looks::default();
    looks.show(worker).await?;
    Ok(async move { looks.keep(worker).await })
}

impl Looks {
    async fn keep(&mut self, worker: &WorkerState) -> DurableError {
        let takeover_after = worker.settings.takeover_after;
        let mut last_look = Instant::now();
        loop {
            tokio::time::sleep(INTERVAL).await;
            // The store or this process was suspended, so that the signs of others are late, too.
            if last_look.elapsed() > (takeover_after / 2).max(3 * INTERVAL) {
                self.signs.clear();
            }
            last_look = Instant::now();
            let look = async {
                self.show(worker).await?;
                self.compare(worker).await?;
                self.recover(worker).await
            };
            match timeout(LOOK_TIMEOUT, look).await {
                Ok(Ok(())) => {}
                Ok(Err(error @ DurableError::Missing { .. })) => return error,
                Ok(Err(error)) => {
                    tracing::warn!(%error, "cannot show that this worker lives");
                    self.signs.clear();
                }
                Err(_) => tracing::warn!("cannot show that this worker lives: the store does not answer"),
            }
        }
    }

    /// Gives a sign, and registers the worker unless it is: others may have taken it for a dead one.
    async fn show(&mut self, worker: &WorkerState) -> Result<(), DurableError> {
        let WorkerName { id, application, version } = &worker.name;
        if !worker.store.beat(id).await? {
            let register = "INSERT INTO toolkit_workers (id, application, version, rank, beat, tools) SELECT ?1, ?2, ?3, \
                 coalesce(?4, (SELECT coalesce(max(rank), 0) + 1 FROM toolkit_workers WHERE application = ?2)), 0, ?5 \
                 WHERE NOT EXISTS (SELECT id FROM toolkit_workers WHERE id = ?1) RETURNING rank";
            let register = Statement::write(register).bind(&**id).bind(&**application).bind(&**version);
            let register = register.bind(self.rank).bind(&*worker.contracts.to_json());
            let rows = worker.store.run(vec![register]).await?;
            self.rank = self.rank.or_else(|| Some(rows.first()?.first()?.integer(0)));
            worker.store.beat(id).await?;
        }
        worker.confirm();
        Ok(())
    }

    /// Compares the runs of this worker with the record, and queues those again that it does not run: their executions have
    /// panicked, or the answer that assigned them was lost.
    async fn compare(&mut self, worker: &WorkerState) -> Result<(), DurableError> {
        // Before the query: a run is assigned before its execution starts.
        let running = worker.executions();
        let owned = worker.store.run(vec![Statement::read(OWNED).bind(&*worker.name.id)]).await?;
        let owned = owned.into_iter().flatten().map(|mut row| (row.text(0), row.integer(1)));
        let absent = worker.compare(&running, owned.collect());
        let (lost, absent): (Vec<_>, Vec<_>) =
            absent.into_iter().partition(|execution| self.absent.contains(execution));
        self.absent = absent.into_iter().collect();
        for execution in lost {
            tracing::info!(execution, "the execution of a run has ended without an outcome; it is queued again");
            let queue = "UPDATE toolkit_runs SET phase = 'queued', execution = NULL, changed = ?2 \
                         WHERE execution = ?1 AND phase = 'started' AND worker = ?3";
            let queue = Statement::write(queue).bind(&*execution).bind(now()).bind(&*worker.name.id);
            worker.store.run(vec![queue]).await?;
        }
        Ok(())
    }

    /// Removes dead and silent workers, and queues their runs again. Their executions cannot record anything afterwards.
    async fn recover(&mut self, worker: &WorkerState) -> Result<(), DurableError> {
        let seen = worker.store.signs().await?;
        self.signs.retain(|id, _| seen.contains_key(id));
        for (id, sign) in seen.into_iter().filter(|(id, _)| *id != worker.name.id) {
            let (last, since) = self.signs.entry(id.clone()).or_insert_with(|| (sign, Instant::now()));
            if !is_same(*last, sign) {
                (*last, *since) = (sign, Instant::now());
            }
            let silence = worker.settings.takeover_after.max(MIN_SILENCE);
            if sign != Sign::Ended && since.elapsed() < silence {
                continue;
            }
            // It may have come back meanwhile.
            if !worker.store.signs().await?.get(&id).is_some_and(|now| is_same(*now, sign)) {
                continue;
            }
            tracing::info!(worker = id, "a worker is dead or silent; its runs are continued");
            worker.store.run(vec![Statement::write("DELETE FROM toolkit_workers WHERE id = ?1").bind(&*id)]).await?;
        }
        let left = Statement::read(format!("SELECT id FROM toolkit_runs WHERE {LEFT} LIMIT 1"));
        if worker.store.run(vec![left]).await?.iter().any(|rows| !rows.is_empty()) {
            let queued = worker.store.run(vec![queue_left()]).await?;
            tracing::info!(n_runs = queued.first().map_or(0, Vec::len), "queued the runs of dead workers again");
        }
        Ok(())
    }
}

/// Queues the runs of workers that are not registered.
fn queue_left() -> Statement {
    let queue = "UPDATE toolkit_runs SET phase = 'queued', execution = NULL, changed = ?1";
    Statement::write(format!("{queue} WHERE {LEFT} RETURNING id")).bind(now())
}

/// Returns true unless a worker has given another sign.
fn is_same(sign: Sign, later: Sign) -> bool {
    match (sign, later) {
        (Sign::Beat { beat, .. }, Sign::Beat { beat: later, .. }) => beat == later,
        (sign, later) => sign == later,
    }
}

/// Removes a worker that ends, and queues its runs again.
pub(super) async fn release(worker: &WorkerState) {
    let remove = Statement::write("DELETE FROM toolkit_workers WHERE id = ?1").bind(&*worker.name.id);
    if let Err(error) = worker.store.run(vec![remove, queue_left()]).await {
        tracing::warn!(%error, "other workers have to recover the runs of this one");
    }
    worker.store.leave().await;
}
