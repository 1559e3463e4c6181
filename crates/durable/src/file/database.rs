//! The connection to the file, on a thread of its own: SQLite blocks until a disk has answered.

use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::DurableError;
use crate::file::tables;

/// A connection. It is closed when the last work of a dropped one has ended.
#[derive(Clone)]
pub(super) struct Database {
    path: PathBuf,
    work: mpsc::Sender<Work>,
}

type Work = Box<dyn FnOnce(&mut Connection) + Send>;

impl Database {
    /// Opens the file. A worker creates it with its tables if it does not exist.
    pub(super) async fn open(path: &Path, is_worker: bool) -> Result<Self, DurableError> {
        let (work, queue) = mpsc::channel::<Work>();
        let (opened, opening) = oneshot::channel();
        let opens = path.to_owned();
        let thread = thread::Builder::new().name("toolkit-runs".to_owned()).spawn(move || {
            // Without links, so that all workers look for each other in the folder of the same name.
            let open = || Ok((tables::open(&opens, is_worker)?, opens.canonicalize().map_err(DurableError::engine)?));
            match open() {
                Ok((mut connection, path)) => {
                    let _ = opened.send(Ok(path));
                    queue.into_iter().for_each(|work| work(&mut connection));
                }
                Err(error) => drop(opened.send(Err(error))),
            }
        });
        thread.map_err(DurableError::engine)?;
        let path = opening.await.unwrap_or_else(|_| Err(ended(path)))?;
        Ok(Self { path, work })
    }

    /// Runs a transaction that reads.
    pub(super) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DurableError> {
        self.run(TransactionBehavior::Deferred, work).await
    }

    /// Runs a transaction that writes: all of it is on the disk when this returns, or none of it.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DurableError> {
        self.run(TransactionBehavior::Immediate, work).await
    }

    async fn run<T: Send + 'static>(
        &self,
        behavior: TransactionBehavior,
        work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    ) -> Result<T, DurableError> {
        let done = self.with(move |connection| {
            let transaction = connection.transaction_with_behavior(behavior)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        done.await?.map_err(|error: rusqlite::Error| tables::failed(&self.path, &error))
    }

    /// Runs work that blocks on the thread of the connection.
    pub(super) async fn with<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> T + Send + 'static,
    ) -> Result<T, DurableError> {
        let (done, answer) = oneshot::channel();
        // The caller may have been dropped.
        let work = move |connection: &mut Connection| drop(done.send(work(connection)));
        self.work.send(Box::new(work)).map_err(|_| ended(&self.path))?;
        answer.await.map_err(|_| ended(&self.path))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn ended(path: &Path) -> DurableError {
    DurableError::Database(format!("the thread of {} has ended", path.display()))
}
