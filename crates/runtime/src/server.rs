//! Accepts connections and reads requests.
//!
//! | module | part |
//! |---|---|
//! | `accept` | the accept loop and its graceful shutdown; a socket with a timeout for writes, and the body of a response |
//! | `connection`, `connections` | one connection; which of them are open, and which can be evicted |
//! | `body`, `response_budget` | the bodies of requests, and the memory of all of them and of responses |
//! | `guard` | hosts, origins and repeated headers |
//! | this file | the limits of all of these, and the proxies in front of the server, with the addresses of the clients behind them |

mod accept;
mod body;
mod connection;
mod connections;
mod guard;
mod response_budget;

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

#[doc(hidden)]
pub use self::accept::{bind, is_connection_error, serve};
#[doc(hidden)]
pub use self::body::{BodyCharge, BodyError, BodyReader, ReceivedBody};
#[doc(hidden)]
pub use self::connection::{Connection, EventStreamPermit};
#[doc(hidden)]
pub use self::guard::{HostGuard, Rejection, bearer, is_token};

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
    /// The number of event streams, which last until the client disconnects. Default: 256.
    pub max_event_streams: usize,
    /// The number of event streams per address. Default: 128.
    pub max_event_streams_per_address: usize,
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
            max_event_streams_per_address: 128,
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

/// The header in which proxies pass on the address of their client.
const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The proxies whose `X-Forwarded-For` is trusted, as networks.
///
/// Each trusted proxy must append the address of its client to the header, as haproxy (`option forwardfor`), nginx
/// (`$proxy_add_x_forwarded_for`) and load balancers of cloud providers do. `Forwarded` is not read, since a proxy that
/// does not know it passes on what clients write in it.
///
/// # Examples
///
/// ```
/// use http::{HeaderMap, HeaderValue};
/// use toolkit_runtime::TrustedProxies;
///
/// # fn main() -> Result<(), toolkit_runtime::NetworkError> {
/// let proxies = TrustedProxies::new(["10.0.0.0/8", "::1"])?;
/// let mut headers = HeaderMap::new();
/// headers.insert("x-forwarded-for", HeaderValue::from_static("6.6.6.6, 192.0.2.7, 10.0.0.9"));
/// // The client wrote the first address itself.
/// assert_eq!(proxies.client([10, 0, 0, 1].into(), &headers), std::net::IpAddr::from([192, 0, 2, 7]));
/// // Without a proxy, the header means nothing.
/// assert_eq!(proxies.client([192, 0, 2, 1].into(), &headers), std::net::IpAddr::from([192, 0, 2, 1]));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct TrustedProxies {
    networks: Vec<IpNet>,
}

impl TrustedProxies {
    /// Creates a set of networks in CIDR notation, such as `10.0.0.0/8`, or of single addresses.
    ///
    /// # Errors
    ///
    /// Returns an error if a text is neither a network nor an address.
    pub fn new<I>(networks: I) -> Result<Self, NetworkError>
    where
        I: IntoIterator<Item: AsRef<str>>,
    {
        let networks = networks.into_iter().map(|text| {
            let text = text.as_ref();
            let address = || text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
            text.parse().or_else(|_| address()).map_err(|_| NetworkError { text: text.chars().take(60).collect() })
        });
        Ok(Self { networks: networks.collect::<Result<_, _>>()? })
    }

    /// Returns true if an address is that of a trusted proxy.
    #[must_use]
    pub fn contains(&self, address: IpAddr) -> bool {
        // A dual-stack socket shows IPv4 clients as IPv6 addresses.
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client of a request that arrived from `peer`: the last address in the header that is not
    /// one of a trusted proxy.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut client = peer;
        if !self.contains(peer) {
            return client;
        }
        let lines = headers.get_all(FORWARDED_FOR).iter().rev();
        for line in lines {
            // What follows an unreadable address was written by a trusted proxy.
            let Ok(line) = line.to_str() else { return client };
            for address in line.rsplit(',') {
                let Some(address) = read(address.trim()) else { return client };
                client = address;
                if !self.contains(address) {
                    return client;
                }
            }
        }
        client
    }
}

/// Reads an address, which may have a port.
fn read(text: &str) -> Option<IpAddr> {
    let address = text.parse().or_else(|_| text.parse().map(|address: std::net::SocketAddr| address.ip()));
    let bracketed = || text.strip_prefix('[')?.strip_suffix(']')?.parse().ok();
    address.ok().or_else(bracketed).map(|address| address.to_canonical())
}

/// The error for a text that is no network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetworkError {
    text: String,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not a network: expected an address, or one with a prefix length such as 10.0.0.0/8",
            self.text
        )
    }
}

impl std::error::Error for NetworkError {}
