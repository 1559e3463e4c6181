//! Code mode: programs of language models that call the tools of a catalog.

#![forbid(unsafe_code)]

pub mod engine;
pub mod gateway;
pub mod sandbox;
#[cfg(feature = "server")]
pub mod server;
pub mod wire;
pub mod worker;

mod code_mode;
mod drive;
mod error;
mod execution;
mod failure;
mod guarantee;
mod journal;
mod json;
mod limits;
mod nested;
mod profile;
mod program;
mod record;
mod run_code;

pub use self::code_mode::{CodeMode, Outcome};
pub use self::error::CodeError;
pub use self::execution::Execution;
pub use self::failure::{Failure, FailureKind};
pub use self::journal::{Journal, JournalKey, OpenError};
pub use self::limits::Limits;
pub use self::profile::{Profile, ProfileError};
pub use self::program::{Language, Program};
pub use self::record::CallRecord;
pub use self::run_code::RunCode;
