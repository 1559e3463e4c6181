//! Accepts connections, reads requests and runs tools.

mod accept;
mod body;
mod body_budget;
mod connection;
mod connection_state;
mod connections;
mod guard;
mod limits;
mod proxies;
mod response;
mod response_budget;
mod stream;

#[doc(hidden)]
pub use self::accept::{bind, serve};
#[doc(hidden)]
pub use self::body::{BodyCharge, BodyError, BodyReader, ReceivedBody};
#[doc(hidden)]
pub use self::connection::{Connection, EventStreamPermit};
#[doc(hidden)]
pub use self::guard::{HostGuard, Rejection, bearer};
pub use self::limits::Limits;
pub use self::proxies::{NetworkError, TrustedProxies};
