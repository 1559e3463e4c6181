//! The addresses that a client may connect to, or a user may open, because a server names them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use reqwest::Url;
#[cfg(feature = "oauth")]
use tokio::net::lookup_host;

use super::authorizer::is_local;

/// The length in characters to which a text of a server is truncated.
const MAX_TEXT_CHARS: usize = 200;

/// The rules for addresses that a server or its metadata contains.
///
/// All of them need `https`, so that a name of an attacker that resolves to an internal address reaches no service with
/// a valid certificate. In addition, a server on a public network cannot make the client connect to a private one.
#[derive(Clone)]
pub(super) struct AddressPolicy {
    server: Url,
    allow_private: bool,
}

/// The kind of network that an address belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    Public,
    Private,
    Loopback,
    /// Link-local addresses, among them those of the metadata services of clouds, and others that are not hosts.
    Reserved,
}

impl AddressPolicy {
    pub(super) fn new(server: Url, allow_private: bool) -> Self {
        Self { server, allow_private }
    }

    /// Checks the parts of a URL. The error is a sentence.
    pub(super) fn check(&self, url: &Url) -> Result<(), String> {
        let shown = shown(url);
        if url.host().is_none() || !url.username().is_empty() || url.password().is_some() {
            return Err(format!("`{shown}` must have a host, and no user"));
        }
        let is_allowed_loopback = is_loopback(url) && is_loopback(&self.server);
        match url.scheme() {
            "https" => {}
            // Without TLS, the names of this machine are resolved here.
            "http" if is_local(url) && is_local(&self.server) => {}
            _ => return Err(format!("`{shown}` must begin with `https://`")),
        }
        match literal(url) {
            Some(address) if !self.allows(url, address) => Err(format!("`{shown}` is not a public address")),
            _ if is_loopback(url) && !is_allowed_loopback => Err(format!("`{shown}` is not a public address")),
            _ => Ok(()),
        }
    }

    /// Checks the parts of a URL and the addresses of its host. Without addresses, the request fails anyway, or a proxy
    /// resolves the host.
    #[cfg(feature = "oauth")]
    pub(super) async fn check_resolved(&self, url: &Url) -> Result<(), String> {
        self.check(url)?;
        let (Some(host), Some(port)) = (url.host_str(), url.port_or_known_default()) else {
            return Ok(());
        };
        if literal(url).is_some() || is_local(url) {
            return Ok(());
        }
        let Ok(addresses) = lookup_host((host, port)).await else {
            return Ok(());
        };
        match addresses.into_iter().all(|address| self.allows(url, address.ip())) {
            true => Ok(()),
            false => Err(format!("`{}` is not a public address", shown(url))),
        }
    }

    fn allows(&self, url: &Url, address: IpAddr) -> bool {
        // The client connects to the host of the server anyway.
        if url.host() == self.server.host() {
            return true;
        }
        match network(address) {
            Network::Public => true,
            Network::Private => {
                self.allow_private || literal(&self.server).is_some_and(|server| network(server) == Network::Private)
            }
            Network::Loopback => is_loopback(&self.server),
            Network::Reserved => false,
        }
    }
}

fn literal(url: &Url) -> Option<IpAddr> {
    let host = url.host_str()?;
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

/// Returns true if the host is local, or an address that contains a loopback address.
fn is_loopback(url: &Url) -> bool {
    is_local(url) || literal(url).is_some_and(|address| network(address) == Network::Loopback)
}

fn network(address: IpAddr) -> Network {
    match address {
        IpAddr::V4(address) => network_v4(address),
        IpAddr::V6(address) => match embedded(address) {
            Some(address) => network_v4(address),
            None => network_v6(address),
        },
    }
}

fn network_v4(address: Ipv4Addr) -> Network {
    let [a, b, ..] = address.octets();
    let is_shared = a == 100 && (64..128).contains(&b);
    let is_benchmark = a == 198 && matches!(b, 18 | 19);
    if address.is_loopback() {
        Network::Loopback
    } else if address.is_private() || is_shared {
        Network::Private
    } else if address.is_link_local() || address.is_multicast() || a == 0 || a >= 240 || is_benchmark {
        Network::Reserved
    } else {
        Network::Public
    }
}

fn network_v6(address: Ipv6Addr) -> Network {
    let [first, second, third, ..] = address.segments();
    let is_teredo = first == 0x2001 && second == 0;
    let is_local_nat64 = (first, second, third) == (0x64, 0xff9b, 1);
    if address.is_loopback() {
        Network::Loopback
    } else if first & 0xfe00 == 0xfc00 {
        Network::Private
    } else if first & 0xffc0 == 0xfe80
        || address.is_multicast()
        || address.is_unspecified()
        || is_teredo
        || is_local_nat64
    {
        Network::Reserved
    } else {
        Network::Public
    }
}

/// Returns the IPv4 address in a mapped, compatible, NAT64 or 6to4 address.
fn embedded(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [a, b, c, d, e, f, g, h] = address.segments();
    let of = |high: u16, low: u16| Some(Ipv4Addr::from((u32::from(high) << 16) | u32::from(low)));
    match [a, b, c, d, e, f] {
        [0, 0, 0, 0, 0, 0xffff] | [0x64, 0xff9b, 0, 0, 0, 0] => of(g, h),
        [0, 0, 0, 0, 0, 0] if !address.is_loopback() && !address.is_unspecified() => of(g, h),
        [0x2002, ..] => of(b, c),
        _ => None,
    }
}

/// Returns a URL without its user and its query, which may contain keys, for an error message.
pub(super) fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_query(None);
    // A URL without a host has no user.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    untrusted(url.as_str())
}

/// Escapes and truncates a text of a server for an error message.
pub(super) fn untrusted(text: &str) -> String {
    let end = text.char_indices().nth(MAX_TEXT_CHARS);
    let (text, ellipsis) = end.map_or((text, ""), |(end, _)| (&text[..end], "…"));
    format!("{}{ellipsis}", text.escape_debug())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(server: &str, url: &str) -> Result<(), String> {
        AddressPolicy::new(Url::parse(server).unwrap(), false).check(&Url::parse(url).unwrap())
    }

    #[test]
    fn a_public_server_names_public_addresses_over_https() {
        let server = "https://mcp.example.com/mcp";
        for url in ["https://as.example/token", "https://93.184.216.34/", "https://[2606:2800::1]/"] {
            assert_eq!(check(server, url), Ok(()), "{url}");
        }
        for url in [
            "http://as.example/token",
            "http://mcp.example.com/token",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "ftp://as.example/",
            "https://user@as.example/",
            "https://user:password@as.example/",
            "https://localhost/",
            "https://LOCALHOST./",
            "https://x.localhost/",
            "http://localhost/",
            "https://127.0.0.1/",
            "https://127.1/",
            "https://0x7f000001/",
            "https://2130706433/",
            "https://10.0.0.1/",
            "https://172.16.0.1/",
            "https://192.168.1.1/",
            "https://100.64.0.1/",
            "https://169.254.169.254/latest/meta-data",
            "https://0.0.0.0/",
            "https://224.0.0.1/",
            "https://255.255.255.255/",
            "https://198.18.0.1/",
            "https://[::1]/",
            "https://[::]/",
            "https://[fe80::1]/",
            "https://[fd00::1]/",
            "https://[ff02::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://[::127.0.0.1]/",
            "https://[64:ff9b::10.0.0.1]/",
            "https://[2002:a00:1::]/",
            "https://[2001::1]/",
            "https://[64:ff9b:1::1]/",
        ] {
            assert!(check(server, url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_server_names_addresses_of_its_own_network() {
        for (server, url) in [
            ("http://localhost:1/mcp", "http://127.0.0.1:2/token"),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/token"),
            ("http://[::1]:1/mcp", "https://localhost:2/token"),
            ("https://10.0.0.1/mcp", "https://10.0.0.2/token"),
            ("https://10.0.0.1/mcp", "https://as.example/token"),
        ] {
            assert_eq!(check(server, url), Ok(()), "{server} {url}");
        }
        for (server, url) in [
            ("https://10.0.0.1/mcp", "http://10.0.0.1/token"),
            ("https://10.0.0.1/mcp", "https://127.0.0.1/token"),
            ("http://localhost:1/mcp", "https://10.0.0.1/token"),
            ("http://localhost:1/mcp", "https://169.254.169.254/token"),
            ("http://localhost:1/mcp", "http://as.example/token"),
        ] {
            assert!(check(server, url).is_err(), "{server} {url}");
        }
    }

    /// The first and the last address of each network, and their neighbors.
    #[test]
    fn each_address_belongs_to_a_network() {
        for (network_of, addresses) in [
            (Network::Loopback, &["127.0.0.0", "127.255.255.255", "::1", "::ffff:127.0.0.1", "2002:7f00:1::"][..]),
            (
                Network::Private,
                &[
                    "10.0.0.0",
                    "10.255.255.255",
                    "172.16.0.0",
                    "172.31.255.255",
                    "192.168.0.0",
                    "192.168.255.255",
                    "100.64.0.0",
                    "100.127.255.255",
                    "fc00::",
                    "fdff:ffff::",
                    "::ffff:10.0.0.1",
                    "::10.0.0.1",
                    "64:ff9b::10.0.0.1",
                    "2002:a00:1::",
                ],
            ),
            (
                Network::Reserved,
                &[
                    "0.0.0.0",
                    "0.255.255.255",
                    "169.254.0.0",
                    "169.254.255.255",
                    "198.18.0.0",
                    "198.19.255.255",
                    "224.0.0.0",
                    "239.255.255.255",
                    "240.0.0.0",
                    "255.255.255.255",
                    "::",
                    "fe80::",
                    "febf:ffff::",
                    "ff00::",
                    "ffff::",
                    "2001::",
                    "2001:0:ffff::",
                    "64:ff9b:1::",
                    "64:ff9b:1:ffff::",
                ],
            ),
            (
                Network::Public,
                &[
                    "1.0.0.0",
                    "9.255.255.255",
                    "11.0.0.0",
                    "126.255.255.255",
                    "128.0.0.0",
                    "172.15.255.255",
                    "172.32.0.0",
                    "192.167.255.255",
                    "192.169.0.0",
                    "100.63.255.255",
                    "100.128.0.0",
                    "101.64.0.0",
                    "169.253.255.255",
                    "169.255.0.0",
                    "198.17.255.255",
                    "198.20.0.0",
                    "199.18.0.0",
                    "223.255.255.255",
                    "fbff::",
                    "fe7f::",
                    "2001:1::",
                    "2606:2800::1",
                    "64:ff9b::8.8.8.8",
                    "64:ff9b:2::",
                    "65:ff9b:1::",
                    "::ffff:8.8.8.8",
                    "::8.8.8.8",
                    "2002:808:808::",
                    "2003:a00:1::",
                    "1::ffff:10.0.0.1",
                ],
            ),
        ] {
            for address in addresses {
                assert_eq!(network(address.parse().unwrap()), network_of, "{address}");
            }
        }
    }

    #[test]
    fn a_url_is_shown_without_secrets_and_up_to_a_length() {
        assert_eq!(shown(&Url::parse("https://u:p@x.example/a?b=c#d").unwrap()), "https://x.example/a#d");
        assert_eq!((untrusted(&"é".repeat(200)), untrusted("a\nb")), ("é".repeat(200), "a\\nb".to_owned()));
        assert_eq!(untrusted(&"é".repeat(201)), format!("{}…", "é".repeat(200)));
    }

    #[tokio::test]
    async fn a_name_is_judged_by_its_addresses() {
        let policy = AddressPolicy::new(Url::parse("https://mcp.example.com/mcp").unwrap(), true);
        // Resolved by the platform, and not `localhost` by name.
        let url = Url::parse("https://ip6-localhost/").unwrap();
        if lookup_host(("ip6-localhost", 443)).await.is_ok() {
            assert!(policy.check(&url).is_ok());
            assert!(policy.check_resolved(&url).await.is_err());
        }
    }
}
