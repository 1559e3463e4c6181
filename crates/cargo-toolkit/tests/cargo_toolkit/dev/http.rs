//! A server over HTTP, while the program changes.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use super::client::{DevClient, TIMEOUT, texts};
use super::package::EditedPackage;

/// Sends a request over a connection of its own, and returns the whole response.
pub(super) fn request(address: &str, method: &str, path: &str) -> String {
    let mut response = String::new();
    open(address, &format!("{method} {path}"), "").read_to_string(&mut response).unwrap();
    response
}

/// Sends a message of MCP, and returns the body of the response.
pub(super) fn message(address: &str, message: &str) -> String {
    let mut response = String::new();
    open(address, "POST /mcp", message).read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    response.split_once("\r\n\r\n").unwrap().1.to_owned()
}

/// Begins a request, and returns its response as it comes.
pub(super) fn open(address: &str, line: &str, body: &str) -> BufReader<TcpStream> {
    let mut connection = TcpStream::connect(address).unwrap();
    connection.set_read_timeout(Some(TIMEOUT)).unwrap();
    let fields = "Connection: keep-alive\r\nContent-Type: application/json\r\nAccept: application/json";
    let head = format!("{line} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\nContent-Length: {}", body.len());
    write!(connection, "{head}\r\n\r\n{body}").unwrap();
    BufReader::new(connection)
}

/// Returns the next event of a stream that begins with a text.
#[track_caller]
pub(super) fn event(stream: &mut impl BufRead, start: &str) -> String {
    stream.lines().map(Result::unwrap).find(|line| line.starts_with(start)).unwrap()
}

/// Calls a tool, and returns the texts of its result.
fn call(address: &str, tool: &str) -> Vec<String> {
    texts(&message(
        address,
        &format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}"}}}}"#),
    ))
}

/// Waits for the build of the present sources, and returns its errors.
pub(super) fn errors(address: &str) -> String {
    loop {
        let errors = call(address, "dev_errors").concat();
        // The call ends before its client gives up.
        if !errors.starts_with("The build is still running.") {
            return errors;
        }
    }
}

/// Returns the address at which the first process is served.
fn address(dev: &DevClient) -> String {
    dev.wait("address", |received| {
        let (_, address) = received.log.split_once("serving at http://")?;
        Some(address.split_once("/mcp")?.0.to_owned())
    })
}

#[test]
fn over_http_each_request_is_of_the_newest_program_and_none_is_lost() {
    let package = EditedPackage::new();
    let dev = package.dev_http("0");
    let address = address(&dev);
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n1 true\n"));
    let mut stream = open(&address, "GET /mcp/events", "");
    event(&mut stream, "data: first");
    // Its process answers it after the next one has started.
    let mut slow = open(&address, "POST /slow", "");
    package.tools(2, &["add"]);
    // The stream ends with the process, so that its client connects to the next one.
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(rest.matches("list_changed").count(), 3, "{rest}");
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n2 true\n"));
    rest.clear();
    slow.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("\r\n\r\n1 true\n"), "{rest}");

    package.write("served/src/tools.rs", "nonsense");
    dev.wait("error", |received| received.log.contains("; the earlier program goes on\n").then_some(()));
    assert!(request(&address, "POST", "/mcp").ends_with("\r\n\r\n2 true\n"));
    // The address of `dev`, and not those of the processes.
    let log = dev.log();
    assert_eq!(log.matches("http://").count(), log.matches(&format!("http://{address}/")).count(), "{log}");

    dev.kill();
    package.wait_for_end();
}

#[test]
fn over_http_the_errors_of_a_build_are_the_result_of_a_tool_and_an_event_of_the_explorer() {
    let package = EditedPackage::new();
    let dev = package.dev_http("0");
    let address = address(&dev);
    let tools = message(&address, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(
        tools.contains(r#""digits":1.10},{"name":"dev_errors","#) && tools.ends_with(r#"],"ttlMs":0}}"#),
        "{tools}"
    );
    assert_eq!(call(&address, "add"), ["1"]);
    assert!(errors(&address).starts_with("No errors"));
    let mut page = open(&address, "GET /explorer/events", "");
    let listen = r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}"#;
    let mut listening = open(&address, "POST /mcp", listen);

    package.write("served/src/tools.rs", "nonsense");
    assert!(errors(&address).starts_with("error: expected one of `!` or `::`"));
    assert!(event(&mut page, "data: {").starts_with(r#"data: {"buildErrors":"error: expected one of `!` or `::`"#));
    let note = "note: this result is of the program before a change that cannot be built; `dev_errors` has the errors";
    assert_eq!(call(&address, "add"), ["1", note]);
    // A result after an event with progress.
    let progress =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{"progressToken":1}}}"#;
    let events = message(&address, progress);
    let (progress, result) = events.trim_end().split_once("\n\ndata: ").unwrap();
    assert_eq!((progress, texts(result)), (r#"data: {"method":"progress"}"#, vec!["1".to_owned(), note.to_owned()]));

    package.tools(2, &["add"]);
    assert!(errors(&address).starts_with("No errors"));
    assert_eq!(call(&address, "add"), ["2"]);
    let mut rest = String::new();
    page.read_to_string(&mut rest).unwrap();
    assert!(rest.ends_with("data: {\"buildErrors\":null}\n\n"), "{rest}");
    rest.clear();
    listening.read_to_string(&mut rest).unwrap();
    let (_, changes) = rest.split_once("data: first\n\n").unwrap();
    assert!(changes.contains(r#""method":"notifications/tools/list_changed""#), "{changes}");
    assert!(
        changes.contains(r#""io.modelcontextprotocol/subscriptionId":7"#) && changes.lines().count() == 2,
        "{changes}"
    );
}

#[test]
fn over_http_a_program_that_cannot_be_built_is_a_response_with_the_errors() {
    let package = EditedPackage::new();
    package.write("served/src/tools.rs", "nonsense");
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let dev = package.dev_http(&address);
    dev.wait("error", |received| received.log.contains("; no program runs\n").then_some(()));
    let response = request(&address, "GET", "/explorer");
    assert!(response.starts_with("HTTP/1.1 503 ") && response.contains("error: expected one of `!`"), "{response}");
    // A browser that shows it loads the page as soon as there is one.
    assert!(response.contains("\r\nRefresh: 2\r\n"), "{response}");
    // A session begins before there is a program.
    let begun = message(
        &address,
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    );
    assert!(begun.contains(r#""name":"served""#), "{begun}");
    let mut accepted = String::new();
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    open(&address, "POST /mcp", initialized).read_to_string(&mut accepted).unwrap();
    assert!(accepted.starts_with("HTTP/1.1 202 "), "{accepted}");
    let tools = message(&address, r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    assert!(tools.contains(r#"{"tools":[{"name":"dev_errors","#), "{tools}");
    assert!(errors(&address).starts_with("error: expected one of"));
    // A page of others, whose name leads to this machine.
    let mut foreign = TcpStream::connect(&address).unwrap();
    write!(foreign, "GET /explorer HTTP/1.1\r\nHost: evil.example:80\r\n\r\n").unwrap();
    let mut response = String::new();
    foreign.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 403 ") && !response.contains("expected"), "{response}");

    package.tools(1, &["add"]);
    assert!(errors(&address).starts_with("No errors"));
    assert_eq!(call(&address, "add"), ["1"]);
}
