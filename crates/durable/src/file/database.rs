//! The file with its tables, and the connection to it, on a thread of its own: SQLite blocks until a disk has answered.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};
use tokio::sync::oneshot;
use toolkit_runtime::Mutex;

use crate::error::DurableError;
use crate::sql::{Row, SqlValue, Statement};
use crate::tables::{self, VERSION};

/// A connection. It is closed when the last work of a dropped one has ended.
#[derive(Clone)]
pub(super) struct Database {
    pub(super) path: PathBuf,
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
            let open = || Ok((open(&opens, is_worker)?, opens.canonicalize().map_err(DurableError::engine)?));
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

    /// Runs statements in one transaction: all of it is on the disk when this returns, or none of it.
    pub(super) async fn run(&self, statements: Vec<Statement>) -> Result<Vec<Vec<Row>>, DurableError> {
        let done = self.with(move |connection| {
            let behavior = match statements.iter().any(|statement| statement.writes) {
                true => TransactionBehavior::Immediate,
                false => TransactionBehavior::Deferred,
            };
            let transaction = connection.transaction_with_behavior(behavior)?;
            let rows = statements.iter().map(|statement| rows(&transaction, statement)).collect::<Result<_, _>>()?;
            transaction.commit()?;
            Ok(rows)
        });
        done.await?.map_err(|error: rusqlite::Error| failed(&self.path, error))
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
}

/// Runs a statement, and returns its rows.
fn rows(transaction: &Transaction<'_>, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
    let mut prepared = transaction.prepare(&statement.sql)?;
    let n_columns = prepared.column_count();
    let parameters = statement.parameters.iter().map(|value| match value {
        SqlValue::Integer(number) => number.map_or(rusqlite::types::Value::Null, Into::into),
        SqlValue::Text(text) => text.clone().map_or(rusqlite::types::Value::Null, Into::into),
    });
    let value = |row: &rusqlite::Row<'_>, column| {
        Ok(match row.get(column)? {
            rusqlite::types::Value::Integer(number) => SqlValue::Integer(Some(number)),
            rusqlite::types::Value::Text(text) => SqlValue::Text(Some(text)),
            _ => SqlValue::Text(None),
        })
    };
    let rows = prepared.query_map(rusqlite::params_from_iter(parameters), |row| {
        (0..n_columns).map(|column| value(row, column)).collect::<rusqlite::Result<_>>().map(Row)
    });
    rows?.collect()
}

fn ended(path: &Path) -> DurableError {
    let message = format!("the thread of {} has ended", path.display());
    DurableError::Database { message, source: None }
}

/// A file on its disk, whatever its name is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileId(u64, u64);

impl FileId {
    /// Returns `None` if there is no file.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let metadata = std::fs::metadata(path).ok()?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;

            Some(Self(metadata.dev(), metadata.ino()))
        }
        #[cfg(not(unix))]
        {
            let _ = metadata;
            Some(Self(0, 0))
        }
    }
}

/// Marks a file of this crate: `tkrn`.
const APPLICATION_ID: i64 = 0x746b_726e;

/// The time that another process may hold the lock of the file. Transactions take milliseconds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// Prevents that a file is closed here while SQLite opens it elsewhere in this process: closing any descriptor of a file ends
/// the locks that the process has on it.
static OPENING: Mutex<()> = Mutex::new(());

/// Opens the file. A worker creates it with its tables if it does not exist.
pub(super) fn open(path: &Path, is_worker: bool) -> Result<Connection, DurableError> {
    check_local(path)?;
    let connection = {
        let _opening = OPENING.lock();
        match (path.exists(), is_worker) {
            (true, _) => {}
            (false, true) => create(path)?,
            (false, false) => return Err(missing(path, "does not exist: a worker creates it when it starts")),
        }
        // With neither the flag that creates the file nor names with the syntax of URIs.
        Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX)
    };
    let mut connection = connection.map_err(|error| failed(path, error))?;
    let begun = Instant::now();
    loop {
        match prepare(&mut connection, is_worker) {
            Ok(FileState::Ready) => return Ok(connection),
            // A worker that starts has created the file, and its tables are next.
            Ok(FileState::Empty) if begun.elapsed() < BUSY_TIMEOUT => std::thread::sleep(Duration::from_millis(20)),
            Ok(FileState::Empty) => {
                return Err(missing(path, "has no tables yet: a worker creates them when it starts"));
            }
            Ok(FileState::Foreign) => {
                let message = format!("{} is the SQLite database of another program", path.display());
                return Err(DurableError::Damaged { message, source: None });
            }
            Ok(FileState::Other(version)) => {
                let message = format!(
                    "the tables of {} have version {version}, and this program knows version {VERSION}: use the program that \
                     has written them, or another file",
                    path.display()
                );
                return Err(DurableError::Damaged { message, source: None });
            }
            // The change to another journal does not wait for others, of which several may start together.
            Err(error) if is_busy(&error) && begun.elapsed() < BUSY_TIMEOUT => {
                std::thread::sleep(Duration::from_millis(20));
            }
            Err(error) => return Err(failed(path, error)),
        }
    }
}

pub(super) fn missing(path: &Path, reason: &'static str) -> DurableError {
    DurableError::Missing { path: path.to_owned(), reason }
}

/// Creates an empty file that only its owner can read and write. SQLite gives its other files the same permissions.
fn create(path: &Path) -> Result<(), DurableError> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    match options.open(path) {
        // Another process may create it at the same time.
        Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(DurableError::database(format!("cannot create {}: {error}", path.display()), error))
        }
        _ => Ok(()),
    }
}

enum FileState {
    Ready,
    /// There are no tables.
    Empty,
    Foreign,
    /// The tables have another version.
    Other(i64),
}

fn prepare(connection: &mut Connection, creates: bool) -> rusqlite::Result<FileState> {
    connection.busy_timeout(BUSY_TIMEOUT)?;
    // In a transaction: another process may create the tables between two queries.
    let found = state(&*connection.transaction()?)?;
    match found {
        FileState::Empty if creates => {}
        FileState::Ready => {}
        other => return Ok(other),
    }
    let journal: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if journal != "wal" {
        let message = "the file system does not support the write-ahead log of SQLite".to_owned();
        return Err(rusqlite::Error::SqliteFailure(
            rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_IOERR),
            Some(message),
        ));
    }
    // A commit is on the disk when it returns: an effect that was begun is known after a power cut.
    connection.execute_batch("PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another worker may have created the tables meanwhile.
    if let FileState::Empty = state(&transaction)? {
        transaction.execute_batch(&tables::create("INTEGER PRIMARY KEY AUTOINCREMENT"))?;
        transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
        transaction.pragma_update(None, "user_version", VERSION)?;
    }
    transaction.commit()?;
    Ok(FileState::Ready)
}

fn state(connection: &Connection) -> rusqlite::Result<FileState> {
    let number = |text: &str| connection.query_row(text, [], |row| row.get::<_, i64>(0));
    let (id, version) = (number("PRAGMA application_id")?, number("PRAGMA user_version")?);
    Ok(match id {
        APPLICATION_ID if version == VERSION => FileState::Ready,
        APPLICATION_ID => FileState::Other(version),
        0 if version == 0 && number("SELECT count(*) FROM sqlite_schema")? == 0 => FileState::Empty,
        _ => FileState::Foreign,
    })
}

fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Returns the error of an operation, with its cause and its cure.
pub(super) fn failed(path: &Path, error: rusqlite::Error) -> DurableError {
    let file = path.display();
    let message = match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            let message = format!(
                "{file} is damaged, or not a SQLite database ({error}): restore a copy of it, or move it away together with \
                 {file}-wal and {file}-shm"
            );
            return DurableError::damaged(message, error);
        }
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            return DurableError::Locked { path: path.to_owned(), source: error.into() };
        }
        Some(ErrorCode::DiskFull) => format!("the disk of {file} is full"),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            format!("cannot write {file} ({error}): this user needs write access to the file and to its folder")
        }
        Some(ErrorCode::SystemIoFailure) => {
            format!("cannot read or write {file} ({error}): its disk may be full or damaged")
        }
        _ => format!("{file}: {error}"),
    };
    DurableError::database(message, error)
}

/// Returns an error if the file is on a network file system, where locks and shared memory may not work.
fn check_local(path: &Path) -> Result<(), DurableError> {
    #[cfg(target_os = "linux")]
    {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let system = rustix::fs::statfs(folder)
            .map_err(|error| DurableError::database(format!("the folder of {}: {error}", path.display()), error))?;
        // The type of the field differs by platform; magic numbers have 32 bits.
        if let Some((_, name)) = NETWORK.iter().find(|(magic, _)| *magic == system.f_type as u32) {
            let message = format!(
                "{} is on a network file system ({name}), where the locks of SQLite may not work: use a local disk, or \
                 postgres://…",
                path.display()
            );
            return Err(DurableError::Database { message, source: None });
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = path;
    Ok(())
}

/// The numbers and names of network file systems, from `statfs(2)`.
#[cfg(target_os = "linux")]
const NETWORK: [(u32, &str); 11] = [
    (0x6969, "NFS"),
    (0xff53_4d42, "CIFS"),
    (0xfe53_4d42, "SMB2"),
    (0x517b, "SMB"),
    (0x0102_1997, "9P"),
    (0x00c3_6400, "Ceph"),
    (0x5346_414f, "AFS"),
    (0x7375_7245, "Coda"),
    (0x0bd0_0bd0, "Lustre"),
    (0x7461_636f, "OCFS2"),
    (0x0116_1970, "GFS2"),
];
