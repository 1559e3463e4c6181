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
                respond(&id, &list());
            }
            ("\"tools/call\"", Some(id)) if name == "\"task\"" => {
                respond(&id, &format!(r#"{{"task":{{"taskId":"of-{VERSION}","status":"working"}}}}"#));
            }
            ("\"tasks/get\"", Some(id)) => respond(&id, &format!(r#"{{"statusMessage":"{VERSION}"}}"#)),
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

/// Returns the list of tools.
fn list() -> String {
    let tools = NAMES.map(|name| format!(r#"{{"name":"{name}","inputSchema":{{"type":"object"}},"digits":1.10}}"#));
    format!(r#"{{"tools":[{}],"ttlMs":3600000}}"#, tools.join(","))
}

/// Answers a message as a server of MCP, and each other request with the version; `slow` later. Streams have one event.
fn serve_http() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    eprintln!("note: serving at http://{address}/mcp\nnote: explorer at http://{address}/explorer");
    for connection in listener.incoming() {
        let mut connection = connection.unwrap();
        std::thread::spawn(move || {
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let head: Vec<String> = reader.by_ref().lines().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
            let is_closed = head.iter().any(|line| line == "Connection: close");
            let length = head.iter().find_map(|line| line.strip_prefix("Content-Length: "));
            let mut message = vec![0; length.map_or(0, |length| length.parse().unwrap())];
            reader.read_exact(&mut message).unwrap();
            let message = String::from_utf8(message).unwrap();
            if head[0].contains("/events") || message.contains("subscriptions/listen") {
                connection.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: first\n\n").unwrap();
                let _ = connection.read(&mut [0]);
                return;
            }
            if head[0].contains("/slow") || message.contains("slow") {
                std::thread::sleep(Duration::from_millis(1500));
            }
            let result = match field(&message, "\"method\":") {
                Some("\"tools/list\"") => list(),
                _ => format!(r#"{{"content":[{{"type":"text","text":"{VERSION}"}}]}}"#),
            };
            let body = match field(&message, "\"id\":") {
                Some(id) => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
                None => format!("{VERSION} {is_closed}\n"),
            };
            // As a stream, in which progress comes before the result.
            let (kind, body) = match message.contains("progress") {
                true => ("text/event-stream", format!("data: {{\"method\":\"progress\"}}\n\ndata: {body}\n\n")),
                false => ("application/json", body),
            };
            let head = format!("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: {kind}\r\nContent-Length:");
            write!(connection, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
        });
    }
}
