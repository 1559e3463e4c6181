//! `serve`: the served tools, and errors at start.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Ran, SERVE, TOOLS, command, fed, path, running, tools, tools_reading};

/// Returns the names of the tools that are listed over stdio.
fn listed(args: &[&str]) -> Vec<String> {
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
    let ran = tools_reading(&format!("{list}\n"), &[&["serve"], args].concat()).exits(0);
    let tools = ran.json()["result"]["tools"].clone();
    tools.as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

fn refused(args: &[&str]) -> Ran {
    let mut command = command(&TOOLS, &[&["serve"], args].concat());
    command.env_remove("SERVE_TOKEN").output().unwrap().into()
}

#[test]
fn rules_select_the_served_tools() {
    assert!(listed(&[]).len() > 15);
    assert_eq!(listed(&["--allow", "namespace=math"]), ["math_add", "math_sum"]);
    assert_eq!(listed(&["--allow", "namespace=math", "--deny", "math:sum"]), ["math_add"]);
    assert_eq!(listed(&["--allow", "math:add", "--naming", "name"]), ["add"]);
    assert!(listed(&["--read-only"]).contains(&"math_add".to_owned()));
    assert!(!listed(&["--read-only"]).contains(&"math_sum".to_owned()));
    assert_eq!(listed(&["--list-at-most", "3"]), ["call_tool", "describe_tool", "search_tools"]);
}

#[test]
fn a_program_without_tools_says_what_links_them() {
    for command in ["list", "serve"] {
        let mut program = Command::new(path("fixture_options"));
        let ran: Ran = program.arg(command).env("FIXTURE_EMPTY", "1").stdin(Stdio::null()).output().unwrap().into();
        ran.exits(0).says("note: no tools are linked into this program; list crates").says("`toolkit::link!`");
    }
}

#[test]
fn required_credentials_are_read_from_the_environment() {
    let call = json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": { "name": "weather_forecast", "arguments": { "place": { "latitude": 1, "longitude": 2 } } },
    });
    let ran = tools_reading(&format!("{call}\n"), &["serve"]).exits(0);
    let answer: Value = ran.json();
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(!text.contains("lacks what the tool requires"), "{answer}");
}

#[test]
fn invalid_options_are_reported_at_start() {
    refused(&["--allow", "color=red"]).exits(2).says("`namespace=…`");
    refused(&["--deny", "hint=nice"]).exits(2).says("read-only");
    refused(&["--rate", "5"]).exits(2).says("--http");
    refused(&["--http", "nowhere.invalid:1"]).exits(1);
    refused(&["--http", "localhost"]).exits(2).says("or a port");
    let open = refused(&["--http", "0.0.0.0:0"]).exits(1);
    open.says("other machines can reach 0.0.0.0:0").says("SERVE_TOKEN");
    refused(&["--explorer"]).exits(2).says("--http");
    // A page that others reach requires a token in any case.
    let explorer = refused(&["--http", "0.0.0.0:0", "--explorer", "--allow-unauthenticated"]).exits(1);
    explorer.says("--explorer requires a token there, even with --allow-unauthenticated").says("SERVE_TOKEN");
}

#[test]
fn a_port_without_a_host_is_on_the_loopback_interface() {
    use std::io::{BufRead, BufReader};

    let mut serving = command(&TOOLS, &["serve", "--http", "0"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(serving.stderr.take().unwrap()).read_line(&mut line).unwrap();
    serving.kill().unwrap();
    serving.wait().unwrap();
    assert!(line.contains("serving at http://127.0.0.1:"), "{line}");
}

/// Returns the result of `initialize` over stdio.
fn initialized(program: &str) -> Value {
    let initialize = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
    }});
    let ran = running(program, &format!("{initialize}\n"), &["serve"]).exits(0);
    ran.json()["result"].clone()
}

#[test]
fn clients_receive_the_name_version_and_instructions_of_the_program() {
    let answer = initialized(&TOOLS);
    let expected = json!({ "name": "fixture_tools", "version": env!("CARGO_PKG_VERSION") });
    assert_eq!((&answer["serverInfo"], &answer["instructions"]), (&expected, &json!("A fixture.")));
    let version = tools(&["--version"]).exits(0).out;
    assert_eq!(version, format!("fixture_tools {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn the_cause_of_an_internal_error_is_logged_unless_the_log_is_off() {
    let call = json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "test_internal_error", "arguments": {} },
    });
    let logged = |level: Option<&str>| {
        let mut command = command(&SERVE, &["serve"]);
        command.env_remove("RUST_LOG").envs(level.map(|level| ("RUST_LOG", level)));
        let ran = fed(command, &format!("{call}\n")).exits(0);
        assert!(!ran.out.contains("hunter2"), "{}", ran.out);
        ran.err
    };
    let by_default = logged(None);
    assert!(by_default.contains("hunter2") && by_default.contains("test_internal_error"), "{by_default}");
    assert_eq!(logged(Some("off")), "");
    assert!(logged(Some("what=is=this")).contains("RUST_LOG is ignored"));
}

#[test]
fn both_protocols_read_a_token_from_an_environment_variable() {
    for protocol in ["--http", "--otc"] {
        let mut command = command(&TOOLS, &["serve", protocol, "0.0.0.0:0"]);
        let ran: Ran = command.env_remove("SERVE_TOKEN").output().unwrap().into();
        ran.says("SERVE_TOKEN").says("--allow-unauthenticated");
        refused(&[protocol, "0", "--token-env", "NOT_SET"])
            .exits(2)
            .says("the environment variable `NOT_SET` is not set");
    }
}

#[test]
fn workers_reject_the_rules_of_mcp_which_do_not_apply_to_them() {
    for worker in [["--nats", "nats://127.0.0.1:1"], ["--durable", "postgres://127.0.0.1:1/runs"]] {
        for rule in [&["--read-only"][..], &["--deny", "math:add"], &["--timeout", "1s"], &["--proxy", "servers.json"]]
        {
            refused(&[&worker[..], rule].concat()).exits(2).says("cannot be used with");
        }
    }
}

#[test]
fn the_skills_of_a_directory_are_served() {
    let folder = std::env::temp_dir().join(format!("toolkit-serve-skills-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("refunds")).unwrap();
    let skill = "---\nname: refunds\ndescription: Refunds orders.\n---\n";
    std::fs::write(folder.join("refunds/SKILL.md"), skill).unwrap();
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "skills/list" });
    let path = folder.display().to_string();
    let served = tools_reading(&format!("{list}\n"), &["serve", "--skills", &path]).exits(0).json();
    assert_eq!(served["result"]["skills"][0]["uri"], "skill://refunds/SKILL.md", "{served}");
    std::fs::write(folder.join("refunds/SKILL.md"), "# Refunds").unwrap();
    refused(&["--skills", &path]).exits(1).says("refunds/SKILL.md: expected a frontmatter of YAML");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_documentation_of_the_functions_is_served_as_skills() {
    let messages = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "skills/list" }),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "resources/read", "params": { "uri": "skill://math/SKILL.md" } }),
    ];
    let lines: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let ran = tools_reading(&lines, &["serve", "--skills", "docs", "--deny", "math:divide"]).exits(0);
    assert!(ran.out.contains("skill://math/SKILL.md") && ran.out.contains("How to use math_add: "), "{ran:?}");
    assert!(ran.out.contains("# `math_add`") && !ran.out.contains("math_divide"), "{ran:?}");
}

#[test]
fn every_address_to_listen_at_is_a_host_with_a_port_or_a_port() {
    for option in ["--http", "--otc", "--health"] {
        refused(&[option, "localhost"]).exits(2).says("expected a host and a port");
        refused(&[option, "127.0.0.1:65536"]).exits(2).says("expected a host and a port");
        refused(&[option, "nowhere.invalid:1"]).exits(1).says("cannot listen at nowhere.invalid:1: ");
        for address in ["0", ":0", "localhost:0", "127.0.0.1:0"] {
            let mut serving = command(&TOOLS, &["serve", option, address]);
            let mut serving = serving.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut lines = BufReader::new(serving.stderr.take().unwrap()).lines().map(Result::unwrap);
            let line = lines.find(|line| line.contains("http://"));
            serving.kill().unwrap();
            serving.wait().unwrap();
            assert!(
                line.as_ref().is_some_and(|line| line.contains("http://127.0.0.1:")),
                "{option} {address}: {line:?}"
            );
        }
    }
}

#[test]
fn an_address_in_use_is_reported() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    refused(&["--http", &address]).exits(1).says(&format!("cannot listen at {address}: "));
}

/// A server over stdio with the option `--health`.
struct Probed {
    serving: std::process::Child,
    address: String,
}

impl Probed {
    fn new(address: &str, args: &[&str], token: Option<&str>) -> Self {
        let mut command = command(&TOOLS, &[&["serve", "--health", address], args].concat());
        command.env_remove("SERVE_TOKEN").envs(token.map(|token| ("SERVE_TOKEN", token)));
        let mut serving = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(serving.stderr.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.replace("0.0.0.0", "127.0.0.1");
        Self { serving, address }
    }

    fn get(&self, path: &str, token: Option<&str>) -> String {
        use std::io::{Read, Write};

        let mut stream = std::net::TcpStream::connect(&self.address).unwrap();
        let token = token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        write!(stream, "GET {path} HTTP/1.1\r\nhost: x\r\n{token}connection: close\r\n\r\n").unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn status(&self, path: &str, token: Option<&str>) -> String {
        self.get(path, token).split(' ').nth(1).unwrap_or_default().to_owned()
    }
}

impl Drop for Probed {
    fn drop(&mut self) {
        drop(self.serving.stdin.take());
        let _ = self.serving.wait();
    }
}

#[test]
fn a_server_without_http_has_probes_and_metrics_at_the_address_of_health() {
    use std::io::{BufRead, BufReader, Write};

    let mut probed = Probed::new("0", &[], None);
    assert!(probed.get("/healthz", None).ends_with("\r\n\r\nok\n"));
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "math_add", "arguments": { "a": 1, "b": 2 },
    }});
    writeln!(probed.serving.stdin.as_mut().unwrap(), "{call}").unwrap();
    let mut response = String::new();
    BufReader::new(probed.serving.stdout.as_mut().unwrap()).read_line(&mut response).unwrap();
    let metrics = probed.get("/metrics", None);
    assert!(metrics.contains("toolkit_calls_total{tool=\"math:add:1.0.0\",outcome=\"ok\"} 1"), "{metrics}");
    assert!(metrics.contains("toolkit_calls_running 0"), "{metrics}");
    drop(probed.serving.stdin.take());
    assert!(probed.serving.wait().unwrap().success());
}

#[test]
fn metrics_at_the_address_of_health_require_the_token_of_the_server() {
    const TOKEN: &str = "bq7PzWm2kD4xHc9T";
    for address in ["0", "0.0.0.0:0"] {
        let probed = Probed::new(address, &[], Some(TOKEN));
        assert_eq!(probed.status("/healthz", None), "200");
        for wrong in [None, Some(""), Some("bq7PzWm2kD4xHc9"), Some("another")] {
            assert_eq!(probed.status("/metrics", wrong), "401", "{wrong:?}");
        }
        assert_eq!(probed.status("/metrics", Some(TOKEN)), "200");
    }
}

#[test]
fn metrics_that_others_reach_are_not_served_without_a_token_unless_allowed() {
    let closed = Probed::new("0.0.0.0:0", &[], None);
    assert_eq!((closed.status("/healthz", None), closed.status("/metrics", None)), ("200".into(), "401".into()));
    let open = Probed::new("0.0.0.0:0", &["--allow-unauthenticated"], None);
    assert_eq!(open.status("/metrics", None), "200");
    refused(&["--health", "0", "--token-env", "NOT_SET"]).exits(2).says("`NOT_SET` is not set");
}
