//! Durable chains.
#![forbid(unsafe_code)]

mod backend;
mod client;
mod connect;
mod decision;
mod error;
mod layout;
mod lock;
mod record;
mod version;
mod worker;

pub use self::backend::DurableBackend;
pub use self::client::{Client, Run, RunState, RunStatus, StepState, StepStatus};
pub use self::connect::Connect;
pub use self::decision::Decision;
pub use self::error::DurableError;
pub use self::record::{Pause, RunId};
pub use self::worker::Worker;
