//! Accepts connections, reads requests and runs tools.

mod accept;
mod body;
mod body_budget;
mod call_limit;
mod connection;
mod connection_state;
mod connections;
mod guard;
mod header;
mod limits;
mod listener;
mod pool;
mod proxies;
mod response;
mod response_budget;
mod signals;
mod stream;

pub use self::accept::serve;
pub use self::body::{BodyCharge, BodyError, BodyReader, ReceivedBody};
pub use self::call_limit::{CallLimiter, CallPermit, Overloaded};
pub use self::connection::{Connection, EventStreamPermit};
pub use self::guard::{HostGuard, Rejection};
pub use self::header::bearer;
pub use self::limits::Limits;
pub use self::listener::bind;
pub use self::pool::{Panicked, Task, ToolPool};
pub use self::proxies::{NetworkError, TrustedProxies};
pub use self::signals::ShutdownSignals;
