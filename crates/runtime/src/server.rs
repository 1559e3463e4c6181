//! Accepts connections and reads requests.
//!
//! | module | part |
//! |---|---|
//! | this file | the limits of a server |
//! | `listener` | the bound address, and the errors of accepting a connection |
//! | `serve` | the entry of all HTTP servers: the accept loop, the connections and their end |
//! | `connection_threads` | the threads that poll connections in turns, and run their tools |
//! | `connections` | the open connections, and which of them can be evicted |
//! | `request_head` | the head of a request, and the reasons for a rejection |
//! | `guard` | hosts, origins and repeated headers |
//! | `body` | the bodies of requests, and the memory of all of them |
//! | `response`, `response_budget` | the kinds of responses, and the memory of all of them |
//! | `write_timeout` | a socket with a timeout for writes |
//! | `proxies` | the proxies in front of a server, and the addresses of the clients behind them |

mod body;
mod connection_threads;
mod connections;
mod guard;
mod listener;
mod proxies;
mod request_head;
mod response;
mod response_budget;
mod serve;
mod write_timeout;

use std::net::IpAddr;
use std::time::Duration;

pub use self::body::{BodyCharge, ReceivedBody};
pub use self::guard::{HostGuard, bearer, is_token};
pub use self::listener::{bind, is_connection_error};
pub use self::proxies::{NetworkError, TrustedProxies};
pub use self::request_head::{Rejection, RequestHead};
pub use self::response::{Body, empty_response, events_response, json_response, text_response};
pub use self::serve::HttpServer;

/// The limits of an HTTP server, which bound the memory and the connections that clients can occupy.
///
/// By default the limits per address do not apply to loopback addresses, since behind a reverse proxy all clients have
/// a loopback address, as have all programs on the machine.
///
/// # Examples
///
/// ```
/// use std::time::Duration;
/// use toolkit_runtime::Limits;
///
/// let mut limits = Limits::default();
/// limits.max_body_bytes = 1 << 20;
/// limits.io_timeout = Duration::from_secs(10);
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The number of open connections. Beyond it, a new connection evicts one that waits for its client: first idle
    /// ones, of the address with the most connections. Default: 1024.
    pub max_connections: usize,
    /// The number of open connections per address. Default: 512.
    pub max_connections_per_address: usize,
    /// The number of connections beyond the limits above, for when no connection can be evicted. On these, only health
    /// checks and authenticated clients are answered. Default: 64.
    pub reserved_connections: usize,
    /// The number of event streams, which last until the client disconnects. Half of them are the share of one caller, or of one
    /// address without a caller. Default: 256.
    pub max_event_streams: usize,
    /// The size of a request body in bytes. Default: 4 MiB.
    pub max_body_bytes: usize,
    /// The total size in bytes of the request bodies in memory. Counts the bytes that have arrived, until the request
    /// is answered. Default: 64 MiB.
    pub max_pending_bytes: usize,
    /// Applies the limits per address to loopback addresses too, for a server without a reverse proxy on the same
    /// machine. Default: false.
    pub limits_loopback: bool,
    /// The total size in bytes of the responses that clients have not read yet; a single response may be larger. Beyond
    /// it, connections whose clients do not read are closed, and a response without room becomes a `503`. Default: 64
    /// MiB.
    pub max_response_bytes: usize,
    /// The time that a client may take to send the head of a request, to send its body, or to read a response. Default:
    /// 30 s.
    pub io_timeout: Duration,
    /// The time that running calls may take after shutdown was requested. Default: 30 s.
    pub shutdown_timeout: Duration,
    /// The proxies in front of the server, which pass on the addresses of their clients. The limits per address do not
    /// apply to them. Default: none.
    pub trusted_proxies: TrustedProxies,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_connections: 1024,
            max_connections_per_address: 512,
            reserved_connections: 64,
            max_event_streams: 256,
            max_body_bytes: 4 << 20,
            max_pending_bytes: 64 << 20,
            limits_loopback: false,
            max_response_bytes: 64 << 20,
            io_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(30),
            trusted_proxies: TrustedProxies::default(),
        }
    }
}

impl Limits {
    /// Returns true if the limits per address apply to this address.
    pub(super) fn limits_address(&self, address: IpAddr) -> bool {
        (self.limits_loopback || !address.is_loopback()) && !self.trusted_proxies.contains(address)
    }
}
