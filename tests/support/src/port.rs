//! Ports of programs that do not say when they are ready.

use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

/// The time that a program may take to listen.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a port of this machine that nothing listens on.
///
/// # Panics
///
/// Panics if there is none.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port is free").port()
}

/// Waits until a program listens. Its first connection is then one that must work.
///
/// # Panics
///
/// Panics if the program does not listen in time.
pub fn until_it_listens(address: impl ToSocketAddrs) {
    let start = Instant::now();
    while let Err(error) = TcpStream::connect(&address) {
        assert!(start.elapsed() < PATIENCE, "nothing listens: {error}");
        std::thread::sleep(Duration::from_millis(10));
    }
}
