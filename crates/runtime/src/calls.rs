//! Runs the calls of a server, over any protocol.

mod call_limit;
mod pool;
mod signals;

pub use self::call_limit::{CallLimiter, CallPermit, Overloaded};
pub use self::pool::{Panicked, Task, ToolBatch, ToolPool, is_tool_thread, wake_when_idle};
pub use self::signals::ShutdownSignals;
