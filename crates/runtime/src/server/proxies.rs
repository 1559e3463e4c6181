//! The proxies in front of a server, and the addresses of the clients behind them.

use std::fmt;
use std::net::IpAddr;

use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

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
    pub fn new(networks: impl IntoIterator<Item: AsRef<str>>) -> Result<Self, NetworkError> {
        let networks = networks.into_iter().map(|text| {
            let text = text.as_ref();
            let address = || text.parse().map(|address: IpAddr| IpNet::from(address.to_canonical()));
            text.parse().or_else(|_| address()).map_err(|_| NetworkError { text: text.chars().take(60).collect() })
        });
        Ok(Self { networks: networks.collect::<Result<_, _>>()? })
    }

    /// Returns true if an address is that of a trusted proxy.
    pub fn contains(&self, address: IpAddr) -> bool {
        // A dual-stack socket shows IPv4 clients as IPv6 addresses.
        let address = address.to_canonical();
        self.networks.iter().any(|network| network.contains(&address))
    }

    /// Returns the address of the client of a request that arrived from `peer`: the last address in the header that is not
    /// one of a trusted proxy.
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
