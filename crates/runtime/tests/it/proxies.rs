//! The addresses of clients behind proxies.

use std::net::IpAddr;

use http::{HeaderMap, HeaderValue};
use toolkit_runtime::TrustedProxies;

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn the_client_is_the_last_address_that_no_trusted_proxy_has() {
    let proxies = TrustedProxies::new(["10.0.0.0/8", "127.0.0.1", "2001:db8::/32"]).unwrap();
    let cases: [(&str, &[&str], &str); 14] = [
        // Without a proxy, and without a header.
        ("192.0.2.1", &["192.0.2.7"], "192.0.2.1"),
        ("10.0.0.1", &[], "10.0.0.1"),
        ("10.0.0.1", &["192.0.2.7"], "192.0.2.7"),
        ("127.0.0.1", &["192.0.2.7"], "192.0.2.7"),
        // What the client itself has written comes first.
        ("10.0.0.1", &["6.6.6.6, 192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", &["6.6.6.6", "192.0.2.7"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.7, 10.0.0.9"], "192.0.2.7"),
        ("10.0.0.1", &["192.0.2.7", "10.0.0.9,10.0.0.8"], "192.0.2.7"),
        ("10.0.0.1", &["10.0.0.9, 10.0.0.8"], "10.0.0.9"),
        // Ports, and addresses of version 6 in both forms.
        ("2001:db8::1", &["[2001:dead::7]:4711"], "2001:dead::7"),
        ("2001:db8::1", &["192.0.2.7:4711, 2001:db8::2"], "192.0.2.7"),
        ("::ffff:10.0.0.1", &["::ffff:192.0.2.7"], "192.0.2.7"),
        // Nothing before what cannot be read is trusted.
        ("10.0.0.1", &["192.0.2.7, unknown"], "10.0.0.1"),
        ("10.0.0.1", &["192.0.2.7, , 10.0.0.9"], "10.0.0.9"),
    ];
    for (peer, lines, expected) in cases {
        let mut headers = HeaderMap::new();
        headers.append("forwarded", HeaderValue::from_static("for=6.6.6.6"));
        for line in lines {
            headers.append("x-forwarded-for", HeaderValue::from_str(line).unwrap());
        }
        assert_eq!(proxies.client(address(peer), &headers), address(expected), "{peer} {lines:?}");
    }
}

#[test]
fn networks_are_addresses_with_or_without_a_prefix_length() {
    for text in ["10.0.0.0/8", "10.0.0.1", "::1", "2001:db8::/32", "0.0.0.0/0"] {
        assert!(TrustedProxies::new([text]).is_ok(), "{text}");
    }
    for text in ["", "10.0.0.0/33", "10.0.0", "balancer", "10.0.0.0/", "10.0.0.1:80"] {
        let error = TrustedProxies::new([text]).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{text:?} is not a network: expected an address")), "{error}");
    }
}
