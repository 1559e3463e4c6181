//! `serve`: who is served what, and what is refused before anything is.

use serde_json::{Value, json};

use crate::{Ran, TOOLS, command, tools_reading};

/// The names of the tools that are listed over stdio.
fn listed(args: &[&str]) -> Vec<String> {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let ran = tools_reading(&format!("{list}\n"), &[&["serve"], args].concat()).exits(0);
    let tools = ran.json()["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn refused(args: &[&str]) -> Ran {
    let mut command = command(TOOLS, &[&["serve"], args].concat());
    command.env_remove("SERVE_TOKEN").output().unwrap().into()
}

#[test]
fn rules_choose_the_tools_that_are_served() {
    assert!(listed(&[]).len() > 15);
    assert_eq!(listed(&["--allow", "namespace=math"]), ["add", "sum"]);
    assert_eq!(listed(&["--allow", "namespace=math", "--deny", "math:sum"]), ["add"]);
    assert_eq!(listed(&["--allow", "math:add", "--naming", "namespace-name"]), ["math_add"]);
    assert!(listed(&["--read-only"]).contains(&"add".to_owned()));
    assert!(!listed(&["--read-only"]).contains(&"sum".to_owned()));
    assert_eq!(listed(&["--list-at-most", "3"]), ["call_tool", "describe_tool", "search_tools"]);
}

#[test]
fn tools_get_what_they_require_from_the_environment() {
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": "forecast", "arguments": { "place": { "latitude": 1, "longitude": 2 } } },
    });
    let ran = tools_reading(&format!("{call}\n"), &["serve"]).exits(0);
    let answer: Value = ran.json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains("lacks what the tool requires"), "{answer}");
}

#[test]
fn what_cannot_be_served_is_said_before_anything_is() {
    refused(&["--allow", "color=red"]).exits(2).says("`namespace=…`");
    refused(&["--deny", "hint=nice"]).exits(2).says("read-only");
    refused(&["--rate", "5"]).exits(2).says("--http");
    refused(&["--http", "nowhere.invalid:1"]).exits(1);
    refused(&["--http", "localhost"]).exits(2).says("or a port alone");
    let open = refused(&["--http", "0.0.0.0:0"]).exits(1);
    open.says("other machines can reach 0.0.0.0:0").says("SERVE_TOKEN");
}

#[test]
fn a_port_alone_is_one_of_this_machine() {
    use std::io::{BufRead, BufReader};

    let mut serving = command(TOOLS, &["serve", "--http", "0"]).stderr(std::process::Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serving.stderr.take().unwrap()).read_line(&mut line).unwrap();
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(line.contains("serving at http://127.0.0.1:"), "{line}");
}
