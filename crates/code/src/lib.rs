//! Code mode: programs of language models that call the tools of a catalog.
//!
//! | module | part |
//! |---|---|
//! | `code_mode`, `run_code` | the interface of a host, and the tool for models |
//! | `engine` | runs a program without I/O, and returns what it wants as data |
//! | `sandbox` | puts an engine on a thread, into a process, or on another machine |
//! | `worker`, `wire` | the other side of a process, and the protocol of both |
//! | `server` | the other side of a sandbox on another machine |
//! | `gateway`, `drive`, `execution` | the tools of a program, the run that answers its calls, and its result |
//! | `journal` | a paused program, as text that only this host can write |
//! | `program`, `failure` | the text of a program, and why it ended |
//! | `limits` | what a program may use, and what a sandbox enforces |

#![forbid(unsafe_code)]

pub mod engine;
pub mod sandbox;
#[cfg(feature = "server")]
pub mod server;
#[doc(hidden)]
pub mod wire;
pub mod worker;

mod code_mode;
mod drive;
mod execution;
mod failure;
mod gateway;
mod journal;
mod limits;
mod program;
mod run_code;

pub use self::code_mode::{CodeMode, Outcome};
pub use self::execution::{CallRecord, Execution};
pub use self::failure::{CodeError, Failure, FailureKind};
pub use self::gateway::Gateway;
pub use self::journal::{Journal, JournalKey};
pub use self::limits::{Limits, Profile};
pub use self::program::{Language, Program};
pub use self::run_code::RunCode;
