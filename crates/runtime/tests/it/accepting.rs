//! Errors of `accept`: those of one connection, and those that the next connection has too.

use std::io::Error;

use toolkit_runtime::is_connection_error;

#[test]
fn only_a_lack_of_resources_delays_the_next_connection() {
    // EPERM, ENETDOWN, ENETUNREACH, ECONNABORTED, ECONNRESET, ETIMEDOUT, EHOSTUNREACH.
    for code in [1, 100, 101, 103, 104, 110, 113] {
        assert!(is_connection_error(&Error::from_raw_os_error(code)), "{code}");
    }
    // ENOMEM, ENFILE, EMFILE, ENOBUFS, and EINVAL of a socket that does not listen.
    for code in [12, 23, 24, 105, 22] {
        assert!(!is_connection_error(&Error::from_raw_os_error(code)), "{code}");
    }
}
