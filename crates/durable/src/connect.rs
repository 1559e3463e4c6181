//! The connection to Postgres.

use std::fmt;
use std::time::Duration;

use dbos::sysdb::SystemDatabase;
use dbos::sysdb::postgres::{self, PostgresSystemDatabase};
use dbos::{ClientConfig, Config};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};

use crate::error::DurableError;

/// The address of the Postgres database that records the runs.
///
/// # Examples
///
/// ```
/// use toolkit_durable::Connect;
///
/// let connect = Connect::new("postgres://orders@db.example.org/runs")?.application("orders");
/// assert!(Connect::new("mysql://db.example.org/runs").is_err());
/// # Ok::<(), toolkit_durable::DurableError>(())
/// ```
#[derive(Clone)]
pub struct Connect {
    url: String,
    application: String,
    max_connections: u32,
}

/// The name under which runs are recorded.
const APPLICATION: &str = "toolkit";

/// The interval at which the engine looks for runs to start, and callers for their end.
pub(crate) const POLL: Duration = Duration::from_millis(100);

/// The number of connections of a worker for its runs. It needs three more.
const MAX_CONNECTIONS: u32 = 10;

/// The number of attempts to create the database and its tables.
const MIGRATION_ATTEMPTS: u32 = 5;

impl Connect {
    /// Creates the address from a URL, `postgres://USER:PASSWORD@HOST:PORT/DATABASE`. Workers create the database and its
    /// tables if they do not exist.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not the URL of a Postgres database.
    pub fn new(url: &str) -> Result<Self, DurableError> {
        let is_postgres = url.starts_with("postgres://") || url.starts_with("postgresql://");
        match is_postgres && url.parse::<PgConnectOptions>().is_ok() {
            true => {
                Ok(Self { url: url.to_owned(), application: APPLICATION.to_owned(), max_connections: MAX_CONNECTIONS })
            }
            // The URL may contain a password.
            false => Err(DurableError::Url),
        }
    }

    /// Sets the name of the application, which separates the runs of several programs in one database: 3 to 256 lowercase
    /// letters, digits, hyphens and underscores. Default: `toolkit`.
    #[must_use]
    pub fn application(self, name: impl Into<String>) -> Self {
        Self { application: name.into(), ..self }
    }

    /// Sets the maximum number of connections that the runs of a worker share. Default: 10.
    #[must_use]
    pub fn max_connections(self, n: u32) -> Self {
        Self { max_connections: n, ..self }
    }

    pub(crate) fn application_name(&self) -> &str {
        &self.application
    }

    pub(crate) fn executor(&self, id: &str, version: &str) -> Config {
        Config {
            executor_id: Some(id.to_owned()),
            app_version: Some(version.to_owned()),
            max_connections: self.max_connections,
            ..Config::new(&self.application, self.url_as(id))
        }
    }

    pub(crate) fn client(&self) -> ClientConfig {
        ClientConfig {
            app_name: Some(self.application.clone()),
            outcome_poll_interval: Some(POLL),
            ..ClientConfig::new(&self.url)
        }
    }

    /// Creates the database and its tables, if they do not exist.
    pub(crate) async fn migrate(&self) -> Result<(), DurableError> {
        let config = postgres::Config { max_connections: 1, ..postgres::Config::new(&self.url) };
        let mut attempt = 1;
        loop {
            match PostgresSystemDatabase::connect(&config).await {
                Ok(database) => {
                    database.close().await;
                    return Ok(());
                }
                // Another worker may create the database at the same time.
                Err(_) if attempt < MIGRATION_ATTEMPTS => tokio::time::sleep(POLL).await,
                Err(error) => return Err(DurableError::engine(error)),
            }
            attempt += 1;
        }
    }

    /// Connects, beside the engine.
    pub(crate) async fn pool(&self, max_connections: u32) -> Result<PgPool, DurableError> {
        open(max_connections, &self.url).await
    }

    /// Connects as a worker, beside the engine.
    pub(crate) async fn worker_pool(&self, max_connections: u32, executor: &str) -> Result<PgPool, DurableError> {
        open(max_connections, &self.url_as(executor)).await
    }

    /// Returns the URL with a name for the sessions, by which other workers see whether this one lives.
    fn url_as(&self, session: &str) -> String {
        let separator = if self.url.contains('?') { '&' } else { '?' };
        format!("{}{separator}application_name={session}", self.url)
    }
}

async fn open(max_connections: u32, url: &str) -> Result<PgPool, DurableError> {
    let pool = PgPoolOptions::new().max_connections(max_connections).connect(url).await;
    pool.map_err(|error| DurableError::Database(error.to_string()))
}

/// Contains neither the address nor its password.
impl fmt::Debug for Connect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connect").field("application", &self.application).finish_non_exhaustive()
    }
}
