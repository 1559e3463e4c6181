//! The bound address, and the errors of accepting a connection.

use std::io;
use std::net::SocketAddr;

use tokio::net::{TcpListener, TcpSocket};

/// The length of the queue of connections that wait to be accepted. The 128 of the standard library are too few for a
/// burst of clients.
const BACKLOG: u32 = 4096;

/// The number of open files that a server can use: its connections, those that have sent nothing, and what its tools open.
#[cfg(unix)]
const N_FILES: u64 = 16_384;

/// Raises the soft limit of open files of the process, which is 1,024 by default on many systems: fewer than the connections
/// that a server answers.
#[cfg(unix)]
pub(super) fn raise_file_limit() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

    let limit = getrlimit(Resource::Nofile);
    let wanted = limit.maximum.map_or(N_FILES, |maximum| maximum.min(N_FILES));
    if limit.current.is_some_and(|current| current < wanted) {
        // Without the right to raise it, connections beyond the limit wait.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
    }
}

#[cfg(not(unix))]
pub(super) fn raise_file_limit() {}

/// Binds the first of these addresses that is available.
///
/// # Errors
///
/// Returns the error of the last address if none is available.
///
/// # Examples
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> std::io::Result<()> {
/// // `localhost` has two addresses, and the machine may lack IPv6.
/// let addresses = ["[::1]:0".parse().unwrap(), "127.0.0.1:0".parse().unwrap()];
/// let listener = toolkit_runtime::bind(&addresses)?;
/// assert!(listener.local_addr()?.ip().is_loopback());
/// # Ok(())
/// # }
/// ```
pub fn bind(addresses: &[SocketAddr]) -> io::Result<TcpListener> {
    let mut outcome = Err(io::Error::new(io::ErrorKind::InvalidInput, "the host name has no address"));
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
    // Allows a restart while old connections are in TIME_WAIT. On Windows the option lets two processes share an
    // address.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Returns true if an error of `accept` is that of one connection, such as of a client that has disconnected, so that the next
/// one can be accepted at once.
///
/// # Examples
///
/// ```
/// use std::io::{Error, ErrorKind};
/// use toolkit_runtime::is_connection_error;
///
/// assert!(is_connection_error(&Error::from(ErrorKind::ConnectionAborted)));
/// assert!(!is_connection_error(&Error::from(ErrorKind::OutOfMemory)));
/// ```
pub fn is_connection_error(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    // Linux reports a pending error of the network, and `PermissionDenied` for a firewall.
    matches!(
        error.kind(),
        ConnectionAborted
            | ConnectionRefused
            | ConnectionReset
            | HostUnreachable
            | Interrupted
            | NetworkDown
            | NetworkUnreachable
            | PermissionDenied
            | TimedOut
    )
}
