//! `serve --server-card`.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::bundle::directory;
use super::{TOOLS, command, tools};

#[test]
fn the_entry_of_a_registry_becomes_the_card_of_a_server() {
    let path = directory("server_card").join("server.json");
    let file = path.to_str().unwrap();
    let given = ["bundle", "server-json", "--name", "io.github.ada/tools", "--description", "Tools"];
    tools(&[&given[..], &["--remote", "https://example.com/mcp", "-o", file]].concat()).exits(0);
    let mut command = command(&TOOLS, &["serve", "--http", "0", "--server-card", file]);
    let mut serving = command.env("SERVE_TOKEN", "0123456789abcdef").stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serving.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0;
    let get = |path: &str| -> Value {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: example.com\r\nconnection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap()
    };
    let (card, catalog) = (get("/mcp/server-card"), get("/.well-known/ai-catalog.json"));
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert_eq!(card["name"], "io.github.ada/tools");
    assert_eq!(card["remotes"][0]["url"], "https://example.com/mcp");
    assert_eq!(catalog["entries"][0]["url"], "https://example.com/mcp/server-card");
}

#[test]
fn a_file_that_is_no_card_of_this_program_is_an_error() {
    let path = directory("no_card").join("server.json");
    let serve = || tools(&["serve", "--http", "0", "--server-card", path.to_str().unwrap()]).exits(1);
    serve().says("No such file");
    fs::write(&path, "{").unwrap();
    serve().says("EOF while parsing");
    let mut entry = json!({ "name": "io.github.ada/tools", "description": "Tools", "version": "0.0.1" });
    fs::write(&path, entry.to_string()).unwrap();
    serve().says("`bundle server-json --remote URL` adds it");
    entry["remotes"] = json!([{ "type": "streamable-http", "url": "https://example.com/mcp" }]);
    fs::write(&path, entry.to_string()).unwrap();
    serve().says("the file is about version 0.0.1, and this program has version");
    tools(&["serve", "--server-card", path.to_str().unwrap()]).exits(2).says("--http <ADDR>");
}
