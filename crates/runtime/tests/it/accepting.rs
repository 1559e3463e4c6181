//! The bound address, the limit of open files, and the errors of `accept`: those of one connection, and those that the next one has too.

use std::io::{Error, ErrorKind};
use std::process::Command;

use http::StatusCode;
use toolkit_runtime::{HostGuard, HttpServer, Limits, RequestHead, bind, empty_response, is_connection_error};

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

/// A variable of the environment of a process that runs the test below again.
const CHILD: &str = "TOOLKIT_RUNTIME_TEST_FILES";

#[test]
fn a_server_can_open_16384_files_if_the_system_allows_as_many() {
    if std::env::var_os(CHILD).is_some() {
        return serve_once();
    }
    for (shell, expected) in [
        ("ulimit -Hn 20000 && ulimit -Sn 300", "16384"),
        ("ulimit -Hn 2000 && ulimit -Sn 300", "2000"),
        ("ulimit -Hn 20000 && ulimit -Sn 18000", "18000"),
    ] {
        let test = "accepting::a_server_can_open_16384_files_if_the_system_allows_as_many";
        let script = format!("{{ {shell}; }} || exit 77; exec \"$0\" --exact {test} --nocapture");
        let program = std::env::current_exe().unwrap();
        let output = Command::new("sh").args(["-c", &script]).arg(program).env(CHILD, "").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        // A system with a lower limit cannot raise it for the test.
        let is_limited = output.status.code() == Some(77);
        assert!(is_limited || text.contains(&format!("open files: {expected} ")), "{shell}: {text}");
    }
}

/// Starts a server that closes at once, and prints the limit that it leaves.
fn serve_once() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let server = HttpServer::new(Limits::default(), HostGuard::local());
        let listener = bind(&[([127, 0, 0, 1], 0).into()]).unwrap();
        let answer = |_: RequestHead, _| async { empty_response(StatusCode::OK) };
        server.serve(listener, answer, async {}, async {}).await;
    });
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let files = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
    println!("open files: {} ", files.split_whitespace().next().unwrap());
}

#[test]
fn the_first_address_that_is_available_is_bound() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let free = "127.0.0.1:0".parse().unwrap();
        let taken = bind(&[free]).unwrap();
        let taken = taken.local_addr().map(|address| (taken, address)).unwrap();
        assert_ne!(bind(&[taken.1, free]).unwrap().local_addr().unwrap().port(), taken.1.port());
        assert_eq!(bind(&[free, taken.1]).unwrap().local_addr().unwrap().ip(), taken.1.ip());
        assert_eq!(bind(&[taken.1]).unwrap_err().kind(), ErrorKind::AddrInUse);
        let error = bind(&[]).unwrap_err();
        assert_eq!((error.kind(), &*error.to_string()), (ErrorKind::InvalidInput, "the host name has no address"));
    });
}
