//! A server over HTTP, while the program changes.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::thread;
use std::time::{Duration, Instant};

use super::client::DevClient;
use super::package::EditedPackage;

/// Sends a request over a connection of its own, and returns the whole response.
pub(super) fn request(address: &str, method: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "{method} {path} HTTP/1.1\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n").unwrap();
    let mut response = String::new();
    connection.read_to_string(&mut response).unwrap();
    response
}

#[test]
fn over_http_each_request_is_of_the_newest_program_and_none_is_lost() {
    let package = EditedPackage::new();
    let mut command = package.command(&["dev", "-p", "served", "--", "--http", "0"]);
    let dev =
        DevClient::new(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    let address = dev.wait("address", |received| {
        let (_, address) = received.log.split_once("serving at http://")?;
        Some(address.split_once("/mcp")?.0.to_owned())
    });
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n1 true"));
    let (slow, stream) = (address.clone(), address.clone());
    let slow = thread::spawn(move || request(&slow, "POST", "/slow"));
    let stream = thread::spawn(move || request(&stream, "GET", "/events"));
    thread::sleep(Duration::from_millis(200));
    package.tools(2, &["add"]);
    // The stream ends with the process, so that its client connects to the next one.
    assert!(stream.join().unwrap().ends_with("first\n"));
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n2 true"));
    assert!(slow.join().unwrap().ends_with("\r\n\r\n1 true"));

    package.write("served/src/tools.rs", "nonsense");
    dev.wait("error", |received| received.log.contains("; the earlier program goes on\n").then_some(()));
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n2 true"));
    // The address of `dev`, and not those of the processes.
    let log = dev.log();
    assert_eq!(log.matches("http://").count(), log.matches(&format!("http://{address}/")).count(), "{log}");

    dev.kill();
    let start = Instant::now();
    while !package.processes().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", package.processes());
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn over_http_a_program_that_cannot_be_built_is_a_response_with_the_errors() {
    let package = EditedPackage::new();
    package.write("served/src/tools.rs", "nonsense");
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut command = package.command(&["dev", "-p", "served", "--", "--http", &address]);
    let dev =
        DevClient::new(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap());
    dev.wait("error", |received| received.log.contains("; no program runs\n").then_some(()));
    let response = request(&address, "GET", "/explorer");
    assert!(response.starts_with("HTTP/1.1 503 ") && response.contains("error: expected one of `!`"), "{response}");
}
