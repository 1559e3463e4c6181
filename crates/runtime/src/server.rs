//! Accepts connections and reads requests.
//!
//! | module | part |
//! |---|---|
//! | `accept` | the accept loop and its graceful shutdown; a socket with a timeout for writes, and the body of a response |
//! | `connection`, `connections` | one connection; which of them are open, and which can be evicted |
//! | `body`, `response_budget` | the bodies of requests, and the memory of all of them and of responses |
//! | `guard` | hosts, origins and repeated headers |
//! | `limits` | the limits of all of these, and proxies in front of the server |

mod accept;
mod body;
mod connection;
mod connections;
mod guard;
mod limits;
mod response_budget;

#[doc(hidden)]
pub use self::accept::{bind, serve};
#[doc(hidden)]
pub use self::body::{BodyCharge, BodyError, BodyReader, ReceivedBody};
#[doc(hidden)]
pub use self::connection::{Connection, EventStreamPermit};
#[doc(hidden)]
pub use self::guard::{HostGuard, Rejection, bearer};
pub use self::limits::{Limits, NetworkError, TrustedProxies};
