//! Runs in a SQLite file, for workers and clients on one machine.
//!
//! | module | part |
//! |---|---|
//! | `database` | creates the file with its tables, or checks them; the connection to it, on a thread of its own |
//! | `engine` | the engine of a worker, with the entries of its runs |
//! | `lease` | locks that show which workers live; queues the runs of dead ones again, and ends a worker |
//! | `runs` | the runs, for clients |

mod database;
mod engine;
mod lease;
mod runs;

use std::path::PathBuf;

use jiff::Timestamp;

use crate::error::DurableError;
use crate::store::Phase;

pub(crate) use self::engine::Engine;
pub(crate) use self::runs::Runs;

/// The file that records the runs.
#[derive(Clone)]
pub(crate) struct Address {
    pub(crate) path: PathBuf,
    pub(crate) application: String,
}

impl Address {
    /// Checks the name of the application, which is that of a later Postgres database.
    pub(crate) fn new(path: PathBuf, application: String) -> Result<Self, DurableError> {
        let is_valid = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
        match (3..=256).contains(&application.len()) && application.bytes().all(is_valid) {
            true => Ok(Self { path, application }),
            false => Err(DurableError::Application(application)),
        }
    }
}

/// Returns the time in milliseconds since 1970.
fn now() -> i64 {
    Timestamp::now().as_millisecond()
}

impl Phase {
    /// Returns the name of the phase in the file.
    fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Started => "started",
            Self::Finished => "finished",
            Self::Rejected => "rejected",
            Self::Cancelled => "cancelled",
            Self::Parked => "parked",
        }
    }

    fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}
