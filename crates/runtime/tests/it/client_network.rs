//! The networks that count as one client.

use std::net::IpAddr;

use toolkit_runtime::client_network;

#[test]
fn a_client_is_an_ipv4_address_or_the_first_64_bits_of_an_ipv6_address() {
    for (address, network) in [
        ("192.0.2.7", "192.0.2.7"),
        ("127.0.0.1", "127.0.0.1"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
        ("2001:db8:1:2::", "2001:db8:1:2::"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::"),
        ("::1", "::"),
    ] {
        let found = client_network(address.parse::<IpAddr>().unwrap());
        assert_eq!(found, network.parse::<IpAddr>().unwrap(), "{address}");
    }
}
