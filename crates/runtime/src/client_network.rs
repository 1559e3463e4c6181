//! The network of a client, whose addresses share one budget.

use std::net::{IpAddr, Ipv6Addr};

/// Returns the network that counts as one client: an IPv4 address, or the first 64 bits of an IPv6 address, of which a
/// subscriber usually has all.
///
/// # Examples
///
/// ```
/// use std::net::IpAddr;
/// use toolkit_runtime::client_network;
///
/// let network = |text: &str| client_network(text.parse::<IpAddr>().unwrap()).to_string();
/// assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
/// assert_eq!(network("192.0.2.7"), "192.0.2.7");
/// assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
/// ```
pub fn client_network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}
