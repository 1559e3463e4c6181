//! The connection to Postgres, and its advisory locks, which end with the session or transaction that holds them.

use std::time::Duration;

use dbos::sysdb::SystemDatabase;
use dbos::sysdb::postgres::{self, PostgresSystemDatabase};
use dbos::{ClientConfig, Config};
use sha2::{Digest, Sha256};
use sqlx::postgres::{PgConnectOptions, PgConnection, PgPool, PgPoolOptions};
use sqlx::{ConnectOptions, Connection};

use crate::error::DurableError;
use crate::postgres::ownership;
use crate::store::POLL;

/// The address of the Postgres database that records the runs.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) url: String,
    pub(crate) application: String,
    /// The maximum number of connections of a worker for its runs. It needs four more.
    pub(crate) max_connections: u32,
}

/// The number of attempts to create the tables.
const MIGRATION_ATTEMPTS: u32 = 5;

/// The time that a worker waits for another one that creates the tables, which takes seconds.
const MIGRATION_WAIT: Duration = Duration::from_secs(60);

/// Returns true for a valid URL of a Postgres database.
pub(crate) fn is_valid(url: &str) -> bool {
    url.parse::<PgConnectOptions>().is_ok()
}

impl Address {
    pub(super) fn executor(&self, id: &str, version: &str) -> Config {
        Config {
            executor_id: Some(id.to_owned()),
            app_version: Some(version.to_owned()),
            max_connections: self.max_connections,
            ..Config::new(&self.application, self.url_as(id))
        }
    }

    pub(super) fn client(&self) -> ClientConfig {
        ClientConfig {
            app_name: Some(self.application.clone()),
            outcome_poll_interval: Some(POLL),
            ..ClientConfig::new(&self.url)
        }
    }

    /// Creates the database and its tables, if they do not exist.
    ///
    /// One worker at a time: the engine records each step without a look at the version, so that a slower worker beside
    /// a faster one would set it back, and others would take the tables for outdated ones.
    pub(super) async fn migrate(&self) -> Result<(), DurableError> {
        self.create_database().await?;
        let pool = self.pool(1).await?;
        let mut session = pool.acquire().await.map_err(DurableError::engine)?;
        // Statements that wait for a lock would make the creation of an index wait for them.
        let wait = async {
            while !try_hold_session(&mut session, "tables").await? {
                tokio::time::sleep(POLL).await;
            }
            Ok::<(), sqlx::Error>(())
        };
        // A worker that lost its power may hold the lock for as long as the server believes in its connection.
        if let Ok(held) = tokio::time::timeout(MIGRATION_WAIT, wait).await {
            held.map_err(DurableError::engine)?;
        }
        let migrated = match self.create_tables().await {
            Ok(()) => ownership::enforce(&mut session).await,
            Err(error) => Err(error),
        };
        session.close().await.map_err(DurableError::engine)?;
        migrated
    }

    async fn create_database(&self) -> Result<(), DurableError> {
        let options: PgConnectOptions = self.url.parse().map_err(|_| DurableError::Url)?;
        let error = match options.connect().await {
            Ok(connection) => return connection.close().await.map_err(DurableError::engine),
            Err(error) => error,
        };
        let (true, Some(name)) = (has_code(&error, "3D000"), options.get_database()) else {
            return Err(DurableError::engine(error));
        };
        let create = format!("CREATE DATABASE \"{}\"", name.replace('"', "\"\""));
        let mut connection = options.clone().database("postgres").connect().await.map_err(DurableError::engine)?;
        match sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connection).await {
            // Another worker may create it at the same time, which is one of two errors.
            Err(error) if !has_code(&error, "42P04") && !has_code(&error, "23505") => Err(DurableError::engine(error)),
            _ => connection.close().await.map_err(DurableError::engine),
        }
    }

    async fn create_tables(&self) -> Result<(), DurableError> {
        let config = postgres::Config { max_connections: 1, ..postgres::Config::new(&self.url) };
        let mut attempt = 1;
        loop {
            match PostgresSystemDatabase::connect(&config).await {
                Ok(database) => {
                    database.close().await;
                    return Ok(());
                }
                // A worker of an earlier version may create them at the same time.
                Err(_) if attempt < MIGRATION_ATTEMPTS => tokio::time::sleep(POLL).await,
                Err(error) => return Err(DurableError::engine(error)),
            }
            attempt += 1;
        }
    }

    /// Connects, beside the engine.
    pub(super) async fn pool(&self, max_connections: u32) -> Result<PgPool, DurableError> {
        open(max_connections, &self.url).await
    }

    /// Connects as a worker, beside the engine.
    pub(super) async fn worker_pool(&self, max_connections: u32, executor: &str) -> Result<PgPool, DurableError> {
        open(max_connections, &self.url_as(executor)).await
    }

    /// Returns the URL with a name for the sessions, by which other workers see whether this one lives.
    fn url_as(&self, session: &str) -> String {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{separator}application_name={session}", self.url)
    }
}

/// Returns true for an error of the server with this code.
fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).as_deref() == Some(code)
}

async fn open(max_connections: u32, url: &str) -> Result<PgPool, DurableError> {
    let pool = PgPoolOptions::new().max_connections(max_connections).connect(url).await;
    pool.map_err(DurableError::engine)
}

/// Takes the lock of a name until the session ends, and waits for it.
pub(super) async fn hold(session: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_lock($1)").bind(key(name)).execute(session).await.map(drop)
}

/// Takes the lock of a name until the session ends, unless another session holds or shares it.
pub(super) async fn try_hold_session(session: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(key(name)).fetch_one(session).await
}

/// Shares the lock of a name until the session ends.
pub(super) async fn share(session: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_advisory_lock_shared($1)").bind(key(name)).execute(session).await.map(drop)
}

/// Takes the lock of a name until the transaction ends, unless another session holds or shares it.
pub(super) async fn try_hold(transaction: &mut PgConnection, name: &str) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)").bind(key(name)).fetch_one(transaction).await
}

/// Takes the lock of a name until the transaction ends, as soon as a session that was ended has released it.
pub(super) async fn hold_after(transaction: &mut PgConnection, name: &str) -> Result<(), sqlx::Error> {
    sqlx::query("SET LOCAL lock_timeout = '2s'").execute(&mut *transaction).await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(key(name)).execute(transaction).await.map(drop)
}

/// Returns the name of the lock that all workers of an application with one version share.
pub(super) fn presence(application: &str, version: &str) -> String {
    format!("{application}/{version}")
}

/// Returns the number of sessions that share the lock of a name.
pub(super) async fn count_shared(pool: &PgPool, name: &str) -> Result<i64, sqlx::Error> {
    let count = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND granted AND mode = 'ShareLock' \
         AND objsubid = 1 AND (classid::bigint << 32 | objid::bigint) = $1 \
         AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
    sqlx::query_scalar(count).bind(key(name)).fetch_one(pool).await
}

fn key(name: &str) -> i64 {
    let hash = Sha256::new().chain_update(b"toolkit-durable\0").chain_update(name).finalize();
    let (key, _) = hash.split_first_chunk::<8>().expect("a hash has 32 bytes");
    i64::from_be_bytes(*key)
}
