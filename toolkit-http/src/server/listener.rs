//! Binding addresses.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// The number of connections that wait to be accepted: 128, which the standard library asks for, turns away a burst of
/// clients.
const BACKLOG: u32 = 4096;

/// Binds the first of these addresses that is available.
///
/// # Errors
///
/// None of them is available; the error is that of the last one.
pub fn bind(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::InvalidInput, "the name has no address"));
    for address in addresses {
        outcome = bind_one(*address);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

fn bind_one(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // So that a server can be restarted at once. On Windows it would let two processes share one address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}
