//! Accepts connections and reads requests.
//!
//! | module | part |
//! |---|---|
//! | `accept`, `stream` | the accept loop and its graceful shutdown; a socket with a timeout for writes |
//! | `connection`, `connections`, `connection_state` | one connection; which of them are open, and which can be evicted |
//! | `body`, `body_budget`, `response`, `response_budget` | the bodies of requests and responses, and the memory of all of them |
//! | `guard`, `proxies` | hosts, origins and repeated headers; proxies in front of the server |
//! | `limits` | the limits of all of these |

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
