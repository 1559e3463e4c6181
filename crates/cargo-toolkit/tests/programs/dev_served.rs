//! A server of MCP without dependencies, which compiles in a moment. It reads only messages as the tests write them.

mod tools;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::time::Duration;

use self::tools::{NAMES, VERSION};

fn main() {
    tools::start();
    match std::env::args().any(|word| word == "--http") {
        true => serve_http(),
        false => serve_stdio(),
    }
}

fn serve_stdio() {
    let (mut running, mut asking) = (Vec::new(), None);
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let (id, method) = (field(&line, "\"id\":"), field(&line, "\"method\":"));
        let id = id.map(str::to_owned);
        let name = field(&line, "\"name\":").unwrap_or_default().to_owned();
        match (method.unwrap_or_default(), id) {
            ("\"initialize\"", Some(id)) => respond(&id, r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"served","version":"1"}}"#),
            ("\"tools/list\"", Some(id)) => {
                let tools = NAMES.map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"digits":1.10}}"#));
                respond(&id, &format!(r#"{{"tools":[{}],"ttlMs":3600000}}"#, tools.join(",")));
            }
            ("\"tools/call\"", Some(id)) if name == "\"ask\"" => {
                println!(r#"{{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{{}}}}"#);
                asking = Some(id);
            }
            ("\"tools/call\"", Some(id)) => running.push(std::thread::spawn(move || {
                if name == "\"slow\"" {
                    std::thread::sleep(Duration::from_millis(1500));
                }
                if name == "\"crash\"" {
                    eprintln!("out of cheese");
                    std::process::exit(3);
                }
                let is_known = name == "\"slow\"" || NAMES.iter().any(|known| name == format!("\"{known}\""));
                respond(&id, &format!(r#"{{"content":[{{"type":"text","text":"{VERSION}"}}],"isError":{}}}"#, !is_known));
            })),
            ("\"subscriptions/listen\"", Some(id)) => println!(
                r#"{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{id}}}}}}}"#
            ),
            ("\"logging/setLevel\"", Some(id)) => {
                eprintln!("version {VERSION} has a level");
                respond(&id, "{}");
            }
            ("\"notifications/initialized\"", None) => eprintln!("version {VERSION} is initialized"),
            ("", Some(id)) if id == "7" => {
                if let Some(call) = asking.take() {
                    respond(&call, &format!(r#"{{"content":[{{"type":"text","text":"{VERSION}"}}]}}"#));
                }
            }
            (_, Some(id)) => respond(&id, "{}"),
            _ => {}
        }
    }
    running.into_iter().for_each(|call| call.join().unwrap());
}

fn respond(id: &str, result: &str) {
    println!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
}

/// Returns the text of a number or a string after a key.
fn field<'l>(line: &'l str, key: &str) -> Option<&'l str> {
    let (_, rest) = line.split_once(key)?;
    rest.split([',', '}']).next()
}

/// Answers each request with the version; `/slow` later, and `/events` never.
fn serve_http() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    eprintln!("note: serving at http://{address}/mcp\nnote: explorer at http://{address}/explorer");
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        std::thread::spawn(move || {
            let mut lines = BufReader::new(connection.try_clone().unwrap()).lines().map_while(Result::ok);
            let first = lines.next().unwrap_or_default();
            let is_closed = lines.take_while(|line| !line.is_empty()).any(|line| line == "Connection: close");
            if first.contains("/slow") {
                std::thread::sleep(Duration::from_millis(1500));
            }
            if first.contains("/events") {
                connection.write_all(b"HTTP/1.1 200 OK\r\n\r\nfirst\n").unwrap();
                let _ = connection.read(&mut [0]);
                return;
            }
            let body = format!("{VERSION} {is_closed}");
            let head = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length:";
            write!(connection, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
        });
    }
}
