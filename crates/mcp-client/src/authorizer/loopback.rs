//! Connections to servers on this machine.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{ClientBuilder, Url};
use toolkit_runtime::is_loopback;

/// Returns true if the host is a loopback address, `localhost`, or a name below `localhost`.
pub(crate) fn is_local(url: &Url) -> bool {
    let name = url.host_str().unwrap_or_default().trim_end_matches('.');
    is_loopback(name) || name.ends_with(".localhost")
}

/// Makes a client that is used for local URLs only connect to loopback addresses only: a proxy would read the tokens of
/// requests without TLS, and so would the host that a resolver returns for a name such as `example.localhost`.
pub(crate) fn connect_locally(client: ClientBuilder) -> ClientBuilder {
    client.no_proxy().dns_resolver(Arc::new(LoopbackResolver))
}

struct LoopbackResolver;

impl Resolve for LoopbackResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let is_local = Url::parse(&format!("http://{}", name.as_str())).is_ok_and(|url| is_local(&url));
        // The client replaces the port.
        let addresses = [IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)];
        let addresses = addresses.map(|address| SocketAddr::new(address, 0));
        Box::pin(async move {
            match is_local {
                true => Ok(Box::new(addresses.into_iter()) as Addrs),
                false => Err(io::Error::other("the host is not on this machine").into()),
            }
        })
    }
}
