//! The tables, which are those of SQLite and of Postgres but for the type of a number that the database assigns.

/// The version of the tables.
pub(crate) const VERSION: i64 = 3;

/// Returns the statements that create the tables.
///
/// Times are milliseconds since 1970. In `toolkit_runs`:
///
/// | column | content |
/// |---|---|
/// | `version` | the version of the tools of the worker that took the run last |
/// | `contract` | the contracts of the tools of the chain, by their names in it; absent until a worker has taken the run |
/// | `execution` | the random id of the execution that may record entries |
/// | `n_decisions` | a number that changes with each decision |
/// | `parent` | the run of which a step has started this one |
///
/// In `toolkit_entries`, `state` is that of the step if the entry is a result: `succeeded`, `failed` or `waiting`. In
/// `toolkit_workers`, the worker that started last has the highest `rank`, and `tools` are the digests of its contracts.
pub(crate) fn create(serial: &str) -> String {
    format!(
        "CREATE TABLE toolkit_runs (
            seq {serial}, id TEXT NOT NULL UNIQUE, application TEXT NOT NULL, phase TEXT NOT NULL, version TEXT,
            contract TEXT, worker TEXT, execution TEXT, n_executions BIGINT NOT NULL DEFAULT 0,
            n_decisions BIGINT NOT NULL DEFAULT 0, input TEXT NOT NULL, outcome TEXT, error TEXT,
            started BIGINT NOT NULL, changed BIGINT NOT NULL, ended BIGINT, parent TEXT
        );
        CREATE INDEX toolkit_runs_by_phase ON toolkit_runs (application, phase, seq);
        CREATE INDEX toolkit_runs_by_worker ON toolkit_runs (worker) WHERE phase = 'started';
        CREATE INDEX toolkit_runs_by_parent ON toolkit_runs (parent) WHERE parent IS NOT NULL;
        CREATE TABLE toolkit_entries (
            run TEXT NOT NULL, step BIGINT NOT NULL, attempt BIGINT NOT NULL, entry TEXT NOT NULL, state TEXT,
            value TEXT NOT NULL, PRIMARY KEY (run, step, attempt, entry)
        );
        CREATE TABLE toolkit_workers (
            id TEXT NOT NULL PRIMARY KEY, application TEXT NOT NULL, version TEXT NOT NULL, rank BIGINT NOT NULL,
            beat BIGINT NOT NULL, tools TEXT NOT NULL
        );"
    )
}
