//! `serve --issuer`: its options, and what callers without a token read. `tests/auth` uses tokens of a real issuer.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::Stdio;

use serde_json::{Value, json};

use super::{Ran, TOOLS, command};

const ISSUER: [&str; 4] = ["--issuer", "https://login.example", "--audience", "https://tools.example/mcp"];

fn serve(args: &[&str], token: Option<&str>) -> Ran {
    let mut command = command(&TOOLS, &[&["serve", "--http", "0"], args].concat());
    command.env_remove("SERVE_TOKEN").envs(token.map(|token| ("SERVE_TOKEN", token)));
    command.output().unwrap().into()
}

#[test]
fn what_an_issuer_needs_is_reported_at_start() {
    serve(&ISSUER[..2], None).exits(2).says("--audience <URL>");
    serve(&ISSUER[2..], None).exits(2).says("--issuer <URL>");
    serve(&["--scope", "a"], None).exits(2).says("--issuer <URL>");
    serve(&[&ISSUER[..], &["--allow-unauthenticated"]].concat(), None).exits(2).says("cannot be used with");
    serve(&ISSUER, Some("0123456789abcdef"))
        .exits(2)
        .says("SERVE_TOKEN is set, and --issuer requires the tokens of callers");
    let at = |issuer, audience| serve(&["--issuer", issuer, "--audience", audience], None).exits(2);
    at("http://login.example", ISSUER[3]).says("--issuer: `http://login.example` must begin with `https://`");
    for audience in ["tools.example", "https://", "https://tools.example/mcp?a=1"] {
        at(ISSUER[1], audience).says(&format!("--audience: `{audience}` is not the URL of a server"));
    }
}

#[test]
fn a_caller_without_a_token_learns_where_to_obtain_one() {
    let args = [&["serve", "--http", "0", "--scope", "tools:read"], &ISSUER[..]].concat();
    let mut command = command(&TOOLS, &args);
    let mut serving = command.env_remove("SERVE_TOKEN").stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serving.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0;
    let request = |text: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        // The host of the audience is accepted, as behind a proxy with TLS.
        write!(stream, "{text} HTTP/1.1\r\nhost: tools.example\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
            .unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    };
    let refused = request("POST /mcp");
    let metadata = request("GET /.well-known/oauth-protected-resource/mcp");
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(refused.starts_with("HTTP/1.1 401 "), "{refused}");
    let url = r#"resource_metadata="https://tools.example/.well-known/oauth-protected-resource/mcp""#;
    assert!(refused.contains(url) && refused.contains(r#"scope="tools:read""#), "{refused}");
    let metadata: Value = serde_json::from_str(metadata.split_once("\r\n\r\n").unwrap().1).unwrap();
    let expected = json!({
        "resource": "https://tools.example/mcp", "authorization_servers": ["https://login.example"],
        "bearer_methods_supported": ["header"], "scopes_supported": ["tools:read"],
    });
    assert_eq!(metadata, expected);
}
