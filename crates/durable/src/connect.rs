//! The place of the runs: a file or a Postgres database.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::DurableError;
use crate::file::FileStore;
#[cfg(feature = "postgres")]
use crate::postgres::{self, PostgresStore};
use crate::store::Store;

/// The place that records the runs: a file for workers and clients on one machine, or a Postgres database.
///
/// # Examples
///
/// ```
/// use toolkit_durable::Connect;
///
/// let file = Connect::new("runs.db")?;
/// let database = Connect::new("postgres://orders@db.example.org/runs")?.application("orders");
/// assert!(Connect::new("mysql://db.example.org/runs").is_err());
/// # Ok::<(), toolkit_durable::DurableError>(())
/// ```
#[derive(Clone)]
#[must_use]
pub struct Connect {
    target: RunPlace,
    application: String,
    #[cfg(feature = "postgres")]
    max_connections: u32,
}

#[derive(Clone)]
enum RunPlace {
    #[cfg(feature = "postgres")]
    Postgres(String),
    File(PathBuf),
}

/// The name under which runs are recorded.
const APPLICATION: &str = "toolkit";

/// The number of connections of a worker or client.
#[cfg(feature = "postgres")]
const MAX_CONNECTIONS: u32 = 4;

impl Connect {
    /// Creates the address from `postgres://USER:PASSWORD@HOST:PORT/DATABASE`, from the path of a file that ends in `.db`,
    /// `.sqlite` or `.sqlite3`, or from any path after `sqlite:`. Workers create the file, or the database, with its tables if
    /// they do not exist. A URL needs the feature `postgres`.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is neither, or a URL without that feature.
    pub fn new(place: &str) -> Result<Self, DurableError> {
        if place.starts_with("postgres://") || place.starts_with("postgresql://") {
            return Self::database(place);
        }
        match (place.strip_prefix("sqlite:"), Path::new(place).extension().and_then(|end| end.to_str())) {
            (Some(path), _) if !path.is_empty() => Ok(Self::file(path)),
            // Other words are probably arguments of a command.
            (None, Some("db" | "sqlite" | "sqlite3")) if !place.contains("://") => Ok(Self::file(place)),
            // The URL may contain a password.
            _ => Err(DurableError::Url),
        }
    }

    /// Creates the address of a file, for workers and clients on one machine. Workers create it if it does not exist, but not
    /// its folder.
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self::at(RunPlace::File(path.into()))
    }

    #[cfg(feature = "postgres")]
    fn database(url: &str) -> Result<Self, DurableError> {
        match postgres::is_valid(url) {
            true => Ok(Self::at(RunPlace::Postgres(url.to_owned()))),
            false => Err(DurableError::Url),
        }
    }

    #[cfg(not(feature = "postgres"))]
    fn database(_: &str) -> Result<Self, DurableError> {
        Err(DurableError::NoPostgres)
    }

    fn at(target: RunPlace) -> Self {
        Self {
            target,
            application: APPLICATION.to_owned(),
            #[cfg(feature = "postgres")]
            max_connections: MAX_CONNECTIONS,
        }
    }

    /// Sets the name of the application, which separates the runs of several programs in one place: 3 to 256 lowercase
    /// letters, digits, hyphens and underscores. Default: `toolkit`.
    pub fn application(self, name: impl Into<String>) -> Self {
        Self { application: name.into(), ..self }
    }

    /// Sets the maximum number of connections of a worker or client to Postgres. A file has one. Default: 4.
    #[cfg(feature = "postgres")]
    pub fn max_connections(self, n: u32) -> Self {
        Self { max_connections: n, ..self }
    }

    /// Returns the name of the application.
    #[must_use]
    pub fn application_name(&self) -> &str {
        &self.application
    }

    /// Opens the record. A worker creates it if it does not exist.
    pub(crate) async fn open(&self, is_worker: bool) -> Result<Arc<dyn Store>, DurableError> {
        let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        if !(3..=256).contains(&self.application.len()) || !self.application.bytes().all(is_valid) {
            return Err(DurableError::Application(self.application.clone()));
        }
        Ok(match &self.target {
            #[cfg(feature = "postgres")]
            RunPlace::Postgres(url) => Arc::new(PostgresStore::open(url, self.max_connections, is_worker).await?),
            RunPlace::File(path) => Arc::new(FileStore::open(path.clone(), is_worker).await?),
        })
    }
}

// Contains neither the address nor its password.
toolkit::debug_fields!(Connect { application });
