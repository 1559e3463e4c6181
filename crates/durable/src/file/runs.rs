//! The runs in a file, as clients list, cancel and decide them.

use std::time::Duration;

use jiff::Timestamp;
use rusqlite::{OptionalExtension, Row, params};
use toolkit_backends::chain::ChainOutcome;

use crate::error::{DurableError, RunId};
use crate::file::database::Database;
use crate::file::lease::{self, Sign};
use crate::file::{Address, now};
use crate::record::{AttemptPlace, Decision, EntryKind, RunInput};
use crate::store::{self, POLL, Phase, RunRecord, RunsPage, StoreAnswer};

/// The runs in a file.
pub(crate) struct Runs {
    database: Database,
    application: String,
}

impl Runs {
    pub(crate) async fn open(address: &Address) -> Result<Self, DurableError> {
        let database = Database::open(&address.path, false).await?;
        Ok(Self { database, application: address.application.clone() })
    }
}

impl store::Runs for Runs {
    fn start<'a>(&'a self, id: &'a RunId, input: &'a RunInput) -> StoreAnswer<'a, ()> {
        let (id, application) = (id.clone(), self.application.clone());
        let input = serde_json::to_string(input).map_err(DurableError::engine);
        Box::pin(async move {
            let input = input?;
            let insert = "INSERT INTO runs (id, application, phase, input, started, changed) \
                          VALUES (?1, ?2, 'queued', ?3, ?4, ?4) ON CONFLICT DO NOTHING";
            let write = move |transaction: &rusqlite::Transaction<'_>| {
                transaction.execute(insert, params![id.as_str(), application, input, now()]).map(drop)
            };
            self.database.write(write).await
        })
    }

    fn find<'a>(&'a self, id: &'a RunId, with_input: bool) -> StoreAnswer<'a, Option<RunRecord>> {
        let id = id.clone();
        Box::pin(self.database.read(move |transaction| {
            let input = if with_input { "input" } else { "NULL" };
            let select = format!("SELECT {COLUMNS}, {input} FROM runs WHERE id = ?1");
            transaction.query_row(&select, [id.as_str()], record).optional()
        }))
    }

    fn entries<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, Vec<(i32, Option<String>)>> {
        let id = id.clone();
        Box::pin(self.database.read(move |transaction| {
            let select = "SELECT number, value FROM entries WHERE run = ?1 ORDER BY number";
            let mut entries = transaction.prepare(select)?;
            entries.query_map([id.as_str()], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        }))
    }

    fn outcome<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ChainOutcome> {
        Box::pin(async move {
            loop {
                let run = id.clone();
                let read = self.database.read(move |transaction| {
                    let select = "SELECT phase, outcome FROM runs WHERE id = ?1";
                    let mut query = transaction.prepare(select)?;
                    query
                        .query_row([run.as_str()], |row| Ok((phase(row, 0)?, row.get::<_, Option<String>>(1)?)))
                        .optional()
                });
                let (phase, outcome) = read.await?.ok_or_else(|| DurableError::UnknownRun(id.clone()))?;
                let json = outcome.as_deref().unwrap_or_default();
                let damaged = |error: serde_json::Error| {
                    DurableError::damaged(format!("the outcome of the run `{id}` is damaged: {error}"), error)
                };
                match phase {
                    Phase::Finished => return serde_json::from_str(json).map_err(damaged),
                    Phase::Rejected => {
                        return Err(serde_json::from_str(json).map_or_else(damaged, DurableError::Rejected));
                    }
                    Phase::Cancelled => return Err(DurableError::Cancelled(id.clone())),
                    Phase::Parked => return Err(DurableError::Parked(id.clone())),
                    Phase::Queued | Phase::Started => tokio::time::sleep(POLL).await,
                }
            }
        })
    }

    fn cancel<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()> {
        let cancel = "UPDATE runs SET phase = 'cancelled', changed = ?2, ended = ?2 \
                      WHERE id = ?1 AND phase IN ('queued', 'started', 'parked')";
        self.update(cancel, id)
    }

    fn resume<'a>(&'a self, id: &'a RunId) -> StoreAnswer<'a, ()> {
        let resume = "UPDATE runs SET phase = 'queued', execution = NULL, n_executions = 0, changed = ?2, ended = NULL \
                      WHERE id = ?1 AND phase IN ('cancelled', 'parked')";
        self.update(resume, id)
    }

    fn decide<'a>(&'a self, id: &'a RunId, place: AttemptPlace, decision: &'a Decision) -> StoreAnswer<'a, ()> {
        let (id, number) = (id.clone(), place.number(EntryKind::Decision));
        let decision = serde_json::to_string(decision).map_err(DurableError::engine);
        Box::pin(async move {
            let decision = decision?;
            // The entry of a deleted run would be that of the next run with the same id.
            let insert = "INSERT INTO entries (run, number, value) SELECT id, ?2, ?3 FROM runs \
                          WHERE id = ?1 AND phase IN ('queued', 'started') ON CONFLICT DO NOTHING";
            let write = move |transaction: &rusqlite::Transaction<'_>| {
                transaction.execute(insert, params![id.as_str(), number, decision]).map(drop)
            };
            self.database.write(write).await
        })
    }

    fn list<'a>(&'a self, page: RunsPage<'a>) -> StoreAnswer<'a, Vec<RunRecord>> {
        let phases: Vec<String> = page.phases.iter().map(|phase| format!("'{}'", phase.name())).collect();
        let select = format!(
            "SELECT {COLUMNS}, NULL FROM runs WHERE phase IN ({}) AND (?1 IS NULL OR application = ?1) \
             AND (?2 IS NULL OR ended <= ?2) ORDER BY rowid DESC LIMIT ?3 OFFSET ?4",
            phases.join(", ")
        );
        let number = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        let (limit, offset) = (number(page.limit), number(page.offset));
        let ended_before = page.ended_for.map(ago);
        let application = page.application.map(str::to_owned);
        Box::pin(self.database.read(move |transaction| {
            let mut runs = transaction.prepare(&select)?;
            runs.query_map(params![application, ended_before, limit, offset], record)?.collect()
        }))
    }

    fn delete<'a>(&'a self, ids: &'a [&'a str]) -> StoreAnswer<'a, u64> {
        let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
        Box::pin(self.database.write(move |transaction| {
            let mut n_deleted = 0;
            for id in ids {
                let delete = "DELETE FROM runs WHERE id = ?1 AND phase NOT IN ('queued', 'started')";
                if transaction.execute(delete, [&id])? > 0 {
                    transaction.execute("DELETE FROM entries WHERE run = ?1", [&id])?;
                    n_deleted += 1;
                }
            }
            Ok(n_deleted)
        }))
    }

    fn last_version<'a>(&'a self, application: &'a str) -> StoreAnswer<'a, Option<String>> {
        let application = application.to_owned();
        Box::pin(self.database.read(move |transaction| {
            let select =
                "SELECT version FROM versions WHERE application = ?1 ORDER BY deployed DESC, rowid DESC LIMIT 1";
            transaction.query_row(select, [application], |row| row.get(0)).optional()
        }))
    }

    fn has_worker<'a>(&'a self, application: &'a str, version: &'a str) -> StoreAnswer<'a, bool> {
        let (application, version) = (application.to_owned(), version.to_owned());
        let database = self.database.clone();
        Box::pin(self.database.read(move |transaction| {
            let select = "SELECT id FROM workers WHERE application = ?1 AND version = ?2";
            let mut workers = transaction.prepare(select)?;
            for worker in workers.query_map(params![application, version], |row| row.get::<_, String>(0))? {
                if let Ok(Sign::Alive(_)) = lease::sign_of(database.path(), &worker?) {
                    return Ok(true);
                }
            }
            Ok(false)
        }))
    }
}

impl Runs {
    fn update(&self, update: &'static str, id: &RunId) -> StoreAnswer<'_, ()> {
        let id = id.clone();
        Box::pin(
            self.database.write(move |transaction| transaction.execute(update, params![id.as_str(), now()]).map(drop)),
        )
    }
}

/// The columns of [`record`], before the input.
const COLUMNS: &str = "id, application, phase, version, worker, started, changed";

fn record(row: &Row<'_>) -> rusqlite::Result<RunRecord> {
    let time = |column| row.get(column).map(|ms| Timestamp::from_millisecond(ms).unwrap_or_default());
    Ok(RunRecord {
        id: RunId::recorded(row.get(0)?),
        application: row.get(1)?,
        phase: phase(row, 2)?,
        version: row.get(3)?,
        worker: row.get(4)?,
        started: time(5)?,
        changed: time(6)?,
        input: row.get(7)?,
    })
}

fn phase(row: &Row<'_>, column: usize) -> rusqlite::Result<Phase> {
    let name: String = row.get(column)?;
    let unknown =
        || rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, name.clone().into());
    Phase::named(&name).ok_or_else(unknown)
}

fn ago(time: Duration) -> i64 {
    now().saturating_sub(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}
