//! A Postgres database, for workers and clients anywhere.
//!
//! Each statement is a transaction of its own but for a few, and nothing belongs to a session, so that a pooler between the
//! server and its clients may give each transaction another session.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::pool::PoolConnection;
use sqlx::postgres::{PgArguments, PgConnectOptions, PgConnection, PgPool, PgPoolOptions, PgRow, Postgres};
use sqlx::query::Query;
use sqlx::{AssertSqlSafe, Column as _, ConnectOptions, Connection, Row as _, TypeInfo as _};
use tokio::time::timeout;
use toolkit::call::BoxFuture;

use crate::error::DurableError;
use crate::sql::{Row, SqlValue, Statement};
use crate::store::{RowLocks, Sign, Store, StoreAnswer};
use crate::tables::{self, VERSION};

/// The time that the server has to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The time that the server has to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// The time after which a connection may be lost without a sign.
const MAX_IDLE: Duration = Duration::from_secs(1);

/// The time on the clock of the server, in milliseconds since 1970.
const NOW: &str = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

/// The lock of those who create the tables: `tkrn` twice.
const TABLES_LOCK: i64 = 0x746b_726e_746b_726e;

/// A pool of connections to the database.
pub(crate) struct PostgresStore {
    options: PgConnectOptions,
    pool: PgPool,
}

/// Returns true for a valid URL of a Postgres database.
pub(crate) fn is_valid(url: &str) -> bool {
    url.parse::<PgConnectOptions>().is_ok()
}

impl PostgresStore {
    /// Connects. A worker creates the database and its tables if they do not exist.
    pub(crate) async fn open(url: &str, max_connections: u32, is_worker: bool) -> Result<Self, DurableError> {
        let options: PgConnectOptions = url.parse().map_err(|_| DurableError::Url)?;
        // Poolers refuse parameters that they do not know.
        let options = options.extra_float_digits(None);
        // For the error of the server, which a pool does not tell.
        match connect(&options).await {
            Ok(connection) => connection.close().await.map_err(DurableError::engine)?,
            Err(error) if is_worker && has_code(&error, UNDEFINED_DATABASE) => create_database(&options).await?,
            Err(error) => return Err(unreachable(error)),
        }
        let pool = PgPoolOptions::new()
            .max_connections(max_connections)
            .acquire_timeout(CONNECT_TIMEOUT)
            // One that was used a moment ago is not asked first.
            .test_before_acquire(false)
            .before_acquire(|connection, meta| {
                Box::pin(async move {
                    if meta.idle_for >= MAX_IDLE {
                        connection.ping().await?;
                    }
                    Ok(true)
                })
            });
        let store = Self { pool: pool.connect_lazy_with(options.clone()), options };
        store.check_pooler().await?;
        store.prepare(is_worker).await?;
        Ok(store)
    }

    /// Returns an error if a pooler stands between that forgets prepared statements when it gives a transaction another session.
    async fn check_pooler(&self) -> Result<(), DurableError> {
        let select = async |connection: &mut PgConnection| sqlx::query("SELECT 1").execute(connection).await.map(drop);
        let (mut first, mut second) = (self.acquire().await?, self.acquire().await?);
        let checked = async {
            select(&mut first).await?;
            // Takes the session of the first connection, if it is free.
            let mut transaction = second.begin().await?;
            select(&mut transaction).await?;
            select(&mut first).await?;
            transaction.commit().await
        };
        let checked = checked.await;
        if checked.is_err() {
            first.close_on_drop();
            second.close_on_drop();
        }
        checked.map_err(|error| match FORGOTTEN.iter().any(|code| has_code(&error, code)) {
            true => {
                let message =
                    "the pooler before the database forgets prepared statements: set `max_prepared_statements` \
                               of PgBouncer 1.21 or later to 200, or `pool_mode = session`"
                        .to_owned();
                DurableError::database(message, error)
            }
            false => DurableError::engine(error),
        })
    }

    /// Checks the tables. A worker creates them if they do not exist.
    async fn prepare(&self, creates: bool) -> Result<(), DurableError> {
        const SELECT: &str = "SELECT version FROM toolkit_store";
        let mut connection = self.acquire().await?;
        let mut found: Result<i64, sqlx::Error> = sqlx::query_scalar(SELECT).fetch_one(&mut *connection).await;
        if creates && found.as_ref().is_err_and(|error| has_code(error, UNDEFINED_TABLE)) {
            let mut transaction = connection.begin().await.map_err(DurableError::engine)?;
            let lock = sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(TABLES_LOCK);
            lock.execute(&mut *transaction).await.map_err(DurableError::engine)?;
            // Another worker may have created them meanwhile.
            let exists = sqlx::query_scalar("SELECT to_regclass('toolkit_store') IS NOT NULL");
            if !exists.fetch_one(&mut *transaction).await.map_err(DurableError::engine)? {
                let tables = tables::create("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY");
                let version = format!(
                    "{tables}; CREATE TABLE toolkit_store (version BIGINT NOT NULL); \
                     INSERT INTO toolkit_store VALUES ({VERSION})"
                );
                let created = sqlx::raw_sql(AssertSqlSafe(version)).execute(&mut *transaction).await;
                created.map_err(DurableError::engine)?;
            }
            transaction.commit().await.map_err(DurableError::engine)?;
            found = sqlx::query_scalar(SELECT).fetch_one(&mut *connection).await;
        }
        match found {
            Ok(VERSION) => Ok(()),
            Ok(version) => {
                let message = format!(
                    "the tables of the runs have version {version}, and this program knows version {VERSION}: use the \
                     program that has written them, or another database"
                );
                Err(DurableError::Damaged { message, source: None })
            }
            Err(error) if has_code(&error, UNDEFINED_TABLE) => {
                let message = "it has no tables of runs yet: a worker creates them when it starts".to_owned();
                Err(DurableError::database(message, error))
            }
            Err(error) => Err(DurableError::engine(error)),
        }
    }

    async fn acquire(&self) -> Result<PoolConnection<Postgres>, DurableError> {
        match self.pool.acquire().await {
            // Either all connections are in use, or there is no server.
            Err(error @ sqlx::Error::PoolTimedOut) => Err(match connect(&self.options).await {
                Ok(_) => DurableError::engine(error),
                Err(error) => unreachable(error),
            }),
            acquired => acquired.map_err(DurableError::engine),
        }
    }
}

/// Connects, beside the pool.
async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let timed_out = || sqlx::Error::Io(std::io::ErrorKind::TimedOut.into());
    timeout(CONNECT_TIMEOUT, options.connect()).await.unwrap_or_else(|_| Err(timed_out()))
}

async fn create_database(options: &PgConnectOptions) -> Result<(), DurableError> {
    let name = options.get_database().unwrap_or_default().replace('"', "\"\"");
    let mut connection = connect(&options.clone().database("postgres")).await.map_err(unreachable)?;
    let created = sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE \"{name}\""))).execute(&mut connection).await;
    match created {
        // Another worker may create it at the same time, which is one of two errors.
        Err(error) if !has_code(&error, "42P04") && !has_code(&error, "23505") => Err(DurableError::engine(error)),
        _ => connection.close().await.map_err(DurableError::engine),
    }
}

/// Returns the error of a server that cannot be reached, or that refuses the connection.
fn unreachable(error: sqlx::Error) -> DurableError {
    DurableError::database(format!("cannot connect: {error}"), error)
}

const UNDEFINED_DATABASE: &str = "3D000";
const UNDEFINED_TABLE: &str = "42P01";

/// A prepared statement does not exist, or exists already.
const FORGOTTEN: [&str; 2] = ["26000", "42P05"];

/// Returns true for an error of the server with this code.
fn has_code(error: &sqlx::Error, code: &str) -> bool {
    error.as_database_error().and_then(|error| error.code()).as_deref() == Some(code)
}

impl Store for PostgresStore {
    fn clauses(&self) -> RowLocks {
        RowLocks { skip: " FOR UPDATE SKIP LOCKED", share: " FOR SHARE" }
    }

    fn run(&self, statements: Vec<Statement>) -> StoreAnswer<'_, Vec<Vec<Row>>> {
        Box::pin(async move {
            let mut connection = self.acquire().await?;
            match timeout(ANSWER_TIMEOUT, answers(&mut connection, statements)).await {
                Ok(answered) => answered.map_err(DurableError::engine),
                Err(_) => {
                    // Its answer would be that of the next statement.
                    connection.close_on_drop();
                    let message = format!("no answer within {} seconds", ANSWER_TIMEOUT.as_secs());
                    Err(DurableError::Database { message, source: None })
                }
            }
        })
    }

    fn beat<'a>(&'a self, worker: &'a str) -> StoreAnswer<'a, bool> {
        let beat = format!("UPDATE toolkit_workers SET beat = {NOW} WHERE id = ?1 RETURNING id");
        Box::pin(async move {
            let rows = self.run(vec![Statement::write(beat).bind(worker)]).await?;
            Ok(rows.iter().any(|rows| !rows.is_empty()))
        })
    }

    fn signs(&self) -> StoreAnswer<'_, HashMap<String, Sign>> {
        Box::pin(async {
            let signs = Statement::read(format!("SELECT id, beat, {NOW} - beat FROM toolkit_workers"));
            let rows = self.run(vec![signs]).await?.into_iter().flatten();
            let sign = |mut row: Row| {
                let age = Duration::from_millis(u64::try_from(row.integer(2)).unwrap_or(0));
                (row.text(0), Sign::Beat { beat: row.integer(1), age })
            };
            Ok(rows.map(sign).collect())
        })
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(self.pool.close())
    }
}

async fn answers(connection: &mut PgConnection, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>, sqlx::Error> {
    if let [statement] = &*statements {
        return Ok(vec![answer(connection, statement).await?]);
    }
    let mut transaction = connection.begin().await?;
    let mut rows = Vec::with_capacity(statements.len());
    for statement in &statements {
        rows.push(answer(&mut transaction, statement).await?);
    }
    transaction.commit().await?;
    Ok(rows)
}

async fn answer(connection: &mut PgConnection, statement: &Statement) -> Result<Vec<Row>, sqlx::Error> {
    let query = sqlx::query(AssertSqlSafe(statement.sql.replace('?', "$")));
    let bind = |query: Query<'static, Postgres, PgArguments>, value: &SqlValue| match value {
        SqlValue::Integer(number) => query.bind(*number),
        SqlValue::Text(text) => query.bind(text.clone()),
    };
    let query = statement.parameters.iter().fold(query, bind);
    query.fetch_all(connection).await?.iter().map(row).collect()
}

fn row(row: &PgRow) -> Result<Row, sqlx::Error> {
    let value = |column: &sqlx::postgres::PgColumn| match column.type_info().name() {
        "INT8" => row.try_get(column.ordinal()).map(SqlValue::Integer),
        _ => row.try_get(column.ordinal()).map(SqlValue::Text),
    };
    row.columns().iter().map(value).collect::<Result<_, _>>().map(Row)
}
