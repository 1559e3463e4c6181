//! `serve --openapi` and `export --format openapi`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{TOOLS, command, tools};

#[test]
fn a_server_answers_programs_and_its_document_is_the_exported_one() {
    let mut command = command(&TOOLS, &["serve", "--http", "0", "--openapi"]);
    let mut serving = command.stderr(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(serving.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.into_iter().find(|line| line.contains("openapi.json")).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0;
    let ask = |method: &str, path: &str, body: &str| -> Value {
        let mut stream = TcpStream::connect(address).unwrap();
        let (kind, length) = ("content-type: application/json", body.len());
        let head = format!("{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{kind}");
        write!(stream, "{head}\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let document = ask("GET", "/openapi.json", "");
    let sum = ask("POST", "/tools/math_add", r#"{"a": 40, "b": 2}"#);
    let error = ask("POST", "/tools/math_add", r#"{"b": 2}"#);
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert_eq!(sum, 42);
    assert_eq!(error["error"]["violations"][0]["pointer"], "/a");
    let mut exported = tools(&["export", "--format", "openapi"]).exits(0).json();
    exported["servers"] = json!([{ "url": "." }]);
    assert_eq!(exported, document);
}

#[test]
fn the_option_needs_a_server_over_http() {
    tools(&["serve", "--openapi"]).exits(2).says("--http <ADDR>");
}
