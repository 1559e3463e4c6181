//! Runs the calls of a server, over any protocol: `tool_threads` keeps them off the threads that do I/O, `call_limit` bounds
//! how many run, and `signals` ends the server.

mod call_limit;
mod signals;
mod tool_threads;

#[doc(hidden)]
pub use self::call_limit::{CallLimiter, CallPermit, Overloaded};
#[doc(hidden)]
pub use self::signals::ShutdownSignals;
#[doc(hidden)]
pub use self::tool_threads::{Panicked, Task, run_tool, spawn_tool};
