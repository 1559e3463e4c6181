//! Code mode: programs of language models that call the tools of a catalog.
//!
//! | module | part |
//! |---|---|
//! | `code_mode`, `run_code` | the interface of a host, and the tool for models |
//! | `engine` | runs a program without I/O, and returns what it wants as data |
//! | `sandbox` | puts an engine on a thread, into a process, or on another machine |
//! | `worker`, `wire` | the other side of a process, and the protocol of both |
//! | `server` | the other side of a sandbox on another machine |
//! | `gateway`, `drive`, `execution` | the tools of a program, and the run that answers its calls |
//! | `journal`, `record` | a paused program, as text that only this host can write |
//! | `limits`, `profile`, `guarantee` | what a program may use, and what a sandbox enforces |

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
mod limits;
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
