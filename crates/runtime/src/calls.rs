//! Runs the calls of a server, over any protocol.

mod call_limit;
mod signals;
mod tool_threads;

pub use self::call_limit::{CallLimiter, CallPermit, Overloaded};
pub use self::signals::ShutdownSignals;
pub use self::tool_threads::{Panicked, Task, run_tool, spawn_tool};
