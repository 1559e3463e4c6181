//! The runs, as clients start, list, cancel and decide them.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use toolkit_backends::chain::ChainOutcome;

use crate::contract;
use crate::error::{DurableError, RunId};
use crate::record::{AttemptPlace, Decision, EntryKind, RunInput, WAITING};
use crate::sql::{Row, Statement};
use crate::store::{MAX_SIGN_AGE, POLL, Phase, Sign, Store, now};

/// The runs of an application.
pub(crate) struct Runs {
    store: Arc<dyn Store>,
    pub(crate) application: String,
}

/// A recorded run.
pub(crate) struct RunRecord {
    pub(crate) id: RunId,
    pub(crate) application: String,
    pub(crate) phase: Phase,
    /// The version of the tools of the worker that took it last.
    pub(crate) version: Option<String>,
    /// The contract of its tools, once a worker has taken it.
    contract: Option<String>,
    /// The worker that runs it, or ran it last.
    pub(crate) worker: Option<String>,
    /// The error of the step that failed, or of the chain.
    pub(crate) error: Option<String>,
    pub(crate) started: Timestamp,
    pub(crate) changed: Timestamp,
    /// The JSON of a [`RunInput`], if it was asked for.
    pub(crate) input: Option<String>,
}

/// An entry of a run. Results have no value unless the step waits.
pub(crate) struct EntryRecord {
    pub(crate) run: String,
    pub(crate) place: AttemptPlace,
    pub(crate) entry: EntryKind,
    pub(crate) state: Option<String>,
    pub(crate) value: Option<String>,
}

/// A part of the list of runs, the last started one first.
pub(crate) struct RunsPage<'a> {
    /// The application of the runs; all applications if it is absent.
    pub(crate) application: Option<&'a str>,
    pub(crate) phases: Vec<Phase>,
    /// The time that must have passed since the end of a run.
    pub(crate) ended_for: Option<Duration>,
    pub(crate) limit: usize,
    pub(crate) offset: usize,
}

/// The living workers, the last started one first.
pub(crate) struct LivingWorkers(Vec<LivingWorker>);

struct LivingWorker {
    application: String,
    version: String,
    /// The digests of the contracts of its tools.
    tools: HashSet<String>,
}

/// The time that a store may take for a restart while a client waits for an outcome.
const MAX_RESTART: Duration = Duration::from_secs(60);

/// The columns of [`record`], before the input.
const COLUMNS: &str = "id, application, phase, version, contract, worker, error, started, changed";

impl Runs {
    pub(crate) fn new(store: Arc<dyn Store>, application: String) -> Self {
        Self { store, application }
    }

    async fn one(&self, statement: Statement) -> Result<Vec<Row>, DurableError> {
        Ok(self.store.run(vec![statement]).await?.into_iter().flatten().collect())
    }

    /// Queues a run, unless there is one with this id.
    pub(crate) async fn start(&self, id: &RunId, input: &RunInput) -> Result<(), DurableError> {
        let input = serde_json::to_string(input).map_err(DurableError::engine)?;
        // A chain that was rejected before its first step has done nothing, so that a corrected one may have its id.
        let rejected = Statement::write(
            "DELETE FROM toolkit_runs WHERE id = ?1 AND application = ?2 AND phase = 'rejected' AND parent IS NULL \
             AND input <> ?3 AND NOT EXISTS (SELECT run FROM toolkit_entries WHERE run = ?1)",
        );
        let rejected = rejected.bind(id.as_str()).bind(&*self.application).bind(&*input);
        let insert = Statement::write(
            "INSERT INTO toolkit_runs (id, application, phase, input, started, changed) \
             VALUES (?1, ?2, 'queued', ?3, ?4, ?4) ON CONFLICT DO NOTHING",
        );
        let insert = insert.bind(id.as_str()).bind(&*self.application).bind(&*input).bind(now());
        self.store.run(vec![rejected, insert]).await.map(drop)
    }

    /// Reads a run.
    pub(crate) async fn find(&self, id: &RunId, with_input: bool) -> Result<Option<RunRecord>, DurableError> {
        let input = if with_input { "input" } else { "cast(NULL AS TEXT)" };
        let select = Statement::read(format!("SELECT {COLUMNS}, {input} FROM toolkit_runs WHERE id = ?1"));
        Ok(self.one(select.bind(id.as_str())).await?.into_iter().next().map(record))
    }

    /// Reads the entries of runs in the order of their attempts.
    pub(crate) async fn entries(&self, runs: &[&str]) -> Result<Vec<EntryRecord>, DurableError> {
        if runs.is_empty() {
            return Ok(Vec::new());
        }
        let select = Statement::read("").bind(WAITING).bind_list(
            |places| {
                format!(
                    "SELECT run, step, attempt, entry, state, \
                     CASE WHEN state = ?1 OR entry = 'decision' THEN value END FROM toolkit_entries \
                     WHERE run IN ({places}) ORDER BY run, step, attempt"
                )
            },
            runs.iter().copied(),
        );
        let entry = |mut row: Row| {
            let number = |column| usize::try_from(row.integer(column)).unwrap_or(usize::MAX);
            let place = AttemptPlace { step: number(1), attempt: number(2) };
            let entry = EntryKind::from_name(&row.text(3))?;
            Some(EntryRecord { run: row.text(0), place, entry, state: row.take_text(4), value: row.take_text(5) })
        };
        Ok(self.one(select).await?.into_iter().filter_map(entry).collect())
    }

    /// Waits for the outcome of a run that exists, also while the store is restarted.
    pub(crate) async fn outcome(&self, id: &RunId) -> Result<ChainOutcome, DurableError> {
        let mut last_answer = Instant::now();
        loop {
            let select = Statement::read("SELECT phase, outcome FROM toolkit_runs WHERE id = ?1").bind(id.as_str());
            let mut found = match self.one(select).await {
                Err(DurableError::Database { .. }) if last_answer.elapsed() < MAX_RESTART => {
                    tokio::time::sleep(POLL).await;
                    continue;
                }
                found => found?,
            };
            last_answer = Instant::now();
            let row = found.first_mut().ok_or_else(|| DurableError::UnknownRun(id.clone()))?;
            let phase = Phase::from_name(&row.text(0)).unwrap_or(Phase::Parked);
            match outcome(id, phase, &row.text(1)) {
                Some(outcome) => return outcome,
                None => tokio::time::sleep(POLL).await,
            }
        }
    }

    /// Cancels a run that has not ended, with its children. Returns false if it has.
    pub(crate) async fn cancel(&self, id: &RunId) -> Result<bool, DurableError> {
        let set = "phase = 'cancelled', changed = ?2, ended = ?2";
        self.update_family(id, set, "phase IN ('queued', 'started', 'parked')").await
    }

    /// Queues a run that was given up or cancelled, with its children. Returns false for others.
    pub(crate) async fn resume(&self, id: &RunId) -> Result<bool, DurableError> {
        let set = "phase = 'queued', execution = NULL, n_executions = 0, changed = ?2, ended = NULL";
        self.update_family(id, set, "phase IN ('cancelled', 'parked')").await
    }

    /// Changes a run, and those of its descendants that fulfill the condition. Returns false unless the run does.
    async fn update_family(&self, id: &RunId, set: &str, condition: &str) -> Result<bool, DurableError> {
        let update = Statement::write(format!(
            "{} UPDATE toolkit_runs SET {set} WHERE id IN (SELECT id FROM family) AND {condition} \
             AND EXISTS (SELECT id FROM toolkit_runs WHERE id = ?1 AND {condition}) RETURNING id",
            family("?1")
        ));
        Ok(!self.one(update.bind(id.as_str()).bind(now())).await?.is_empty())
    }

    /// Returns the children of a run that have failed.
    pub(crate) async fn failed_children(&self, id: &RunId) -> Result<Vec<RunId>, DurableError> {
        let select = Statement::read("SELECT id FROM toolkit_runs WHERE parent = ?1 AND phase = 'failed'");
        let rows = self.one(select.bind(id.as_str())).await?;
        Ok(rows.into_iter().map(|mut row| RunId::recorded(row.text(0))).collect())
    }

    /// Queues a failed run, whose steps at these places run again. Returns false for others.
    pub(crate) async fn retry(&self, id: &RunId, failed: &[AttemptPlace]) -> Result<bool, DurableError> {
        let share = self.store.clauses().share;
        let mark = |place: &AttemptPlace| {
            let insert = format!(
                "INSERT INTO toolkit_entries (run, step, attempt, entry, value) SELECT id, ?2, ?3, 'retry', 'true' \
                 FROM toolkit_runs WHERE id = ?1 AND phase = 'failed'{share} ON CONFLICT DO NOTHING"
            );
            Statement::write(insert).bind(id.as_str()).bind(place.step).bind(place.attempt)
        };
        let queue = Statement::write(
            "UPDATE toolkit_runs SET phase = 'queued', execution = NULL, n_executions = 0, outcome = NULL, error = NULL, \
             changed = ?2, ended = NULL WHERE id = ?1 AND phase = 'failed' RETURNING id",
        );
        let queue = queue.bind(id.as_str()).bind(now());
        let rows = self.store.run(failed.iter().map(mark).chain([queue]).collect()).await?;
        Ok(rows.last().is_some_and(|rows| !rows.is_empty()))
    }

    /// Binds a run to a contract of its tools, and queues it. Returns false if it has an outcome, or its worker lives.
    pub(crate) async fn bind(&self, run: &RunRecord, contract: &str, version: &str) -> Result<bool, DurableError> {
        let signs = self.store.signs().await?;
        let dead = run.worker.as_deref().filter(|worker| !is_alive(signs.get(*worker)));
        let bind = Statement::write(
            "UPDATE toolkit_runs SET contract = ?2, version = ?3, phase = 'queued', execution = NULL, n_executions = 0, \
             changed = ?4, ended = NULL WHERE id = ?1 \
             AND (phase IN ('queued', 'cancelled', 'parked') OR phase = 'started' AND worker = ?5) RETURNING id",
        );
        let bind = bind.bind(run.id.as_str()).bind(contract).bind(version).bind(now()).bind(dead);
        Ok(!self.one(bind).await?.is_empty())
    }

    /// Records the decision about an attempt. Returns false if there is one, or the run has ended.
    pub(crate) async fn decide(
        &self,
        id: &RunId,
        place: AttemptPlace,
        decision: &Decision,
    ) -> Result<bool, DurableError> {
        let decision = serde_json::to_string(decision).map_err(DurableError::engine)?;
        let count = Statement::write(
            "UPDATE toolkit_runs SET n_decisions = n_decisions + 1 WHERE id = ?1 AND phase IN ('queued', 'started')",
        );
        // The entry of a deleted run would be that of the next run with the same id.
        let insert = Statement::write(
            "INSERT INTO toolkit_entries (run, step, attempt, entry, value) SELECT id, ?2, ?3, 'decision', ?4 \
             FROM toolkit_runs WHERE id = ?1 AND phase IN ('queued', 'started') ON CONFLICT DO NOTHING RETURNING run",
        );
        let insert = insert.bind(id.as_str()).bind(place.step).bind(place.attempt).bind(&*decision);
        let rows = self.store.run(vec![count.bind(id.as_str()), insert]).await?;
        Ok(rows.last().is_some_and(|rows| !rows.is_empty()))
    }

    pub(crate) async fn list(&self, page: RunsPage<'_>) -> Result<Vec<RunRecord>, DurableError> {
        let ended_before =
            page.ended_for.map(|time| now().saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX)));
        let select =
            Statement::read("").bind(page.application).bind(ended_before).bind(page.limit).bind(page.offset).bind_list(
                |phases| {
                    format!(
                        "SELECT {COLUMNS}, cast(NULL AS TEXT) FROM toolkit_runs \
                         WHERE phase IN ({phases}) AND (?1 IS NULL OR application = ?1) \
                         AND (?2 IS NULL OR ended <= ?2) ORDER BY seq DESC LIMIT ?3 OFFSET ?4"
                    )
                },
                page.phases.iter().map(|phase| phase.name()),
            );
        Ok(self.one(select).await?.into_iter().map(record).collect())
    }

    /// Deletes those of the runs that have ended, with their children, and returns their number. A child stays as long as its
    /// parent, which may read its outcome.
    pub(crate) async fn delete(&self, ids: &[&str]) -> Result<u64, DurableError> {
        const ENDED: &str = "id IN (SELECT id FROM family) AND phase NOT IN ('queued', 'started') AND NOT EXISTS \
             (SELECT id FROM toolkit_runs AS parents WHERE parents.id = toolkit_runs.parent \
             AND parents.phase IN ('queued', 'started'))";
        let entries = Statement::write("").bind_list(
            |ids| {
                let (family, share) = (family(ids), self.store.clauses().share);
                format!("{family} DELETE FROM toolkit_entries WHERE run IN (SELECT id FROM toolkit_runs WHERE {ENDED}{share})")
            },
            ids.iter().copied(),
        );
        let runs = Statement::write("").bind_list(
            |ids| format!("{} DELETE FROM toolkit_runs WHERE {ENDED} RETURNING id", family(ids)),
            ids.iter().copied(),
        );
        let rows = self.store.run(vec![entries, runs]).await?;
        Ok(rows.last().map_or(0, |rows| rows.len() as u64))
    }

    /// Returns the living workers of all applications.
    pub(crate) async fn workers(&self) -> Result<LivingWorkers, DurableError> {
        let select =
            Statement::read("SELECT id, application, version, tools FROM toolkit_workers ORDER BY rank DESC, version");
        let workers = self.one(select).await?;
        let signs = self.store.signs().await?;
        let living = workers.into_iter().filter_map(|mut row| {
            let (id, application, version, tools) = (row.text(0), row.text(1), row.text(2), row.text(3));
            let tools = serde_json::from_str(&tools).unwrap_or_default();
            is_alive(signs.get(&id)).then_some(LivingWorker { application, version, tools })
        });
        Ok(LivingWorkers(living.collect()))
    }
}

impl LivingWorkers {
    /// Returns true if one of them can run the run.
    pub(crate) fn can_run(&self, run: &RunRecord) -> bool {
        let digests = run.contract.as_deref().map(contract::digests).unwrap_or_default();
        let fits = |worker: &LivingWorker| digests.iter().all(|digest| worker.tools.contains(digest));
        self.of(&run.application).any(fits)
    }

    /// Returns the version of the one that started last, which takes new runs.
    pub(crate) fn newest_version<'s>(&'s self, application: &'s str) -> Option<&'s str> {
        self.of(application).next().map(|worker| &*worker.version)
    }

    /// Returns the number of those with a version.
    pub(crate) fn count(&self, application: &str, version: &str) -> usize {
        self.of(application).filter(|worker| worker.version == version).count()
    }

    fn of<'s>(&'s self, application: &'s str) -> impl Iterator<Item = &'s LivingWorker> {
        self.0.iter().filter(move |worker| worker.application == application)
    }
}

/// Returns the clause that names runs and their descendants `family`.
fn family(ids: &str) -> String {
    format!(
        "WITH RECURSIVE family AS (SELECT id FROM toolkit_runs WHERE id IN ({ids}) UNION \
         SELECT child.id FROM toolkit_runs AS child JOIN family ON child.parent = family.id)"
    )
}

/// Returns the outcome of a run in a phase, with what it has recorded. Returns `None` while a worker continues it.
pub(crate) fn outcome(id: &RunId, phase: Phase, json: &str) -> Option<Result<ChainOutcome, DurableError>> {
    let damaged = |error: serde_json::Error| {
        DurableError::damaged(format!("the outcome of the run `{id}` is damaged: {error}"), error)
    };
    Some(match phase {
        Phase::Finished | Phase::Failed => serde_json::from_str(json).map_err(damaged),
        Phase::Rejected => Err(serde_json::from_str(json).map_or_else(damaged, DurableError::Rejected)),
        Phase::Cancelled => Err(DurableError::Cancelled(id.clone())),
        Phase::Parked => Err(DurableError::Parked(id.clone())),
        Phase::Queued | Phase::Started => return None,
    })
}

fn is_alive(sign: Option<&Sign>) -> bool {
    matches!(sign, Some(Sign::Beat { age, .. }) if *age <= MAX_SIGN_AGE)
}

fn record(mut row: Row) -> RunRecord {
    let time = |row: &Row, column| Timestamp::from_millisecond(row.integer(column)).unwrap_or_default();
    RunRecord {
        started: time(&row, 7),
        changed: time(&row, 8),
        id: RunId::recorded(row.text(0)),
        application: row.text(1),
        phase: Phase::from_name(&row.text(2)).unwrap_or(Phase::Parked),
        version: row.take_text(3),
        contract: row.take_text(4),
        worker: row.take_text(5),
        error: row.take_text(6),
        input: row.take_text(9),
    }
}
