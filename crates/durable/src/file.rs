//! A SQLite file, for workers and clients on one machine.
//!
//! | module | part |
//! |---|---|
//! | `database` | creates the file with its tables, or checks them; the connection to it, on a thread of its own |
//! | `presence` | locks that show which workers live |

mod database;
mod presence;

use std::collections::HashMap;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::Connection;
use toolkit::call::BoxFuture;
use toolkit_runtime::Mutex;

use self::database::{Database, FileId};
use self::presence::Presence;
use crate::error::DurableError;
use crate::sql::Statement;
use crate::store::{RowLocks, Sign, Store, StoreAnswer};

/// The file that records the runs, opened by a worker or a client.
pub(crate) struct FileStore {
    database: Database,
    /// The file that was opened.
    file: Option<FileId>,
    presence: Arc<Mutex<Option<Presence>>>,
}

impl FileStore {
    /// Opens the file. A worker creates it with its tables if it does not exist.
    pub(crate) async fn open(path: PathBuf, is_worker: bool) -> Result<Self, DurableError> {
        let database = Database::open(&path, is_worker).await?;
        let file = FileId::of(&database.path);
        Ok(Self { database, file, presence: Arc::default() })
    }

    /// Returns an error if the file is gone, or another one has its name.
    fn check_file(&self) -> Result<(), DurableError> {
        match FileId::of(&self.database.path) {
            None => Err(database::missing(&self.database.path, "was removed: its worker ends, and its runs are lost")),
            file if file != self.file => Err(database::missing(
                &self.database.path,
                "was replaced by another file: start its worker again, for the runs in the new one",
            )),
            _ => Ok(()),
        }
    }
}

impl Store for FileStore {
    fn clauses(&self) -> RowLocks {
        // One transaction writes at a time.
        RowLocks { skip: "", share: "" }
    }

    fn run(&self, statements: Vec<Statement>) -> StoreAnswer<'_, Vec<Vec<crate::sql::Row>>> {
        Box::pin(self.database.run(statements))
    }

    fn beat<'a>(&'a self, worker: &'a str) -> StoreAnswer<'a, bool> {
        Box::pin(async move {
            self.check_file()?;
            let (path, presence, id) = (self.database.path.clone(), Arc::clone(&self.presence), worker.to_owned());
            let beaten = self.database.with(move |_| {
                let mut presence = presence.lock();
                if !presence.as_ref().is_some_and(|held| held.exists() && held.beat().is_ok()) {
                    // Its own lock would be that of another one.
                    *presence = None;
                    *presence = Some(Presence::hold(&path, &id).map_err(|error| {
                        let message = format!("cannot lock a file in {}-workers: {error}", path.display());
                        DurableError::database(message, error)
                    })?);
                }
                Ok(())
            });
            beaten.await??;
            let known = Statement::read("SELECT id FROM toolkit_workers WHERE id = ?1").bind(worker);
            Ok(self.run(vec![known]).await?.iter().any(|rows| !rows.is_empty()))
        })
    }

    fn signs(&self) -> StoreAnswer<'_, HashMap<String, Sign>> {
        Box::pin(async {
            let workers = Statement::read("SELECT id FROM toolkit_workers");
            let ids = self.run(vec![workers]).await?.into_iter().flatten().map(|mut row| row.text(0));
            let sign = |id: String| presence::sign_of(&self.database.path, &id).map(|sign| (id, sign));
            ids.map(sign).collect::<io::Result<_>>().map_err(DurableError::engine)
        })
    }

    fn leave(&self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            *self.presence.lock() = None;
            // The process may end before the connection is closed. Fails while others read, and is then their part.
            let checkpoint = |connection: &mut Connection| {
                connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).is_ok()
            };
            let _ = self.database.with(checkpoint).await;
        })
    }
}
