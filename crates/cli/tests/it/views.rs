//! The `views` of `serve --proxy`: their mistakes, and what callers of two endpoints receive.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStderr, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{TOOLS, command, path};

const ISSUER: [&str; 4] = ["--issuer", "https://login.example", "--audience", "https://tools.example/mcp"];

/// The configuration of the chapter on views.
fn chapter() -> Value {
    let chapter = include_str!("../../../../docs/proxy-restrict.md");
    let section = chapter.split_once("\n## Views\n").unwrap().1;
    let block = section.split_once("```json\n").unwrap().1.split_once("```").unwrap().0;
    serde_json::from_str(block).unwrap()
}

fn write(folder: &TempDir, name: &str, content: &Value) -> String {
    let path = folder.path().join(name);
    std::fs::write(&path, content.to_string()).unwrap();
    path.display().to_string()
}

fn servers(folder: &TempDir, names: &[&str]) -> Value {
    let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let listed = write(folder, "tools.json", &json!([tool("read_all"), tool("delete_all"), tool("echo")]));
    let server = json!({ "command": path("fixture_upstream"), "args": ["plain", listed] });
    names.iter().map(|name| ((*name).to_owned(), server.clone())).collect()
}

#[test]
fn a_mistake_in_the_views_is_an_error_at_the_start_that_names_the_key() {
    let folder = tempfile::tempdir().unwrap();
    let servers = servers(&folder, &["notes", "ledger"]);
    let http = ["--http", "0"];
    let with_issuer = [&http[..], &ISSUER].concat();
    let mut disabled = servers.clone();
    disabled["old"] = json!({ "command": "x", "disabled": true });
    for (views, args, error) in [
        (json!({}), &http[..], "`views` is empty, so that no caller would see anything; leave it out"),
        (json!([]), &http, "`views` must be an object of views by their names"),
        (json!({ "a": {} }), &[], "`views` requires --http: a client over stdio has neither a path nor a token"),
        (json!({ "a": 7 }), &http, "`views.a` must be an object of keys"),
        (
            json!({ "a": { "tools": [] } }),
            &http,
            "`views.a.tools` is unknown; the keys are `path`, `claims`, `servers`, ",
        ),
        (json!({ "a": { "servers": [] } }), &http, "`views.a.servers` is empty, so that the view would have no effect"),
        (json!({ "a": { "servers": "notes" } }), &http, "`views.a.servers` must be an array of strings"),
        (
            json!({ "a": { "servers": ["old", "n*", "note"] } }),
            &http,
            "`views.a.servers`: there is no server `note`; the servers are `notes`, `ledger`, `old`",
        ),
        (
            json!({ "a": { "allow": ["get_*"] } }),
            &http,
            "`views.a.allow`: the rule `get_*`: a pattern needs a namespace",
        ),
        (json!({ "a": { "deny": ["tag="] } }), &http, "`views.a.deny`: the rule `tag=`: the value of `tag=` is empty"),
        (
            json!({ "a": { "claims": { "g": "x" } } }),
            &http,
            "`views.a.claims` requires --issuer, whose tokens have claims",
        ),
        (json!({ "a": { "claims": {} } }), &with_issuer, "`views.a.claims` is empty; leave it out for all callers"),
        (json!({ "a": { "claims": { "g": 7 } } }), &with_issuer, "`views.a.claims.g` must be an array of strings"),
        (json!({ "a": { "path": "finance" } }), &http, "`views.a.path` must be a path of letters, digits and `-_.~`, "),
        (json!({ "a": { "path": "/mcp" } }), &http, "`views.a.path` is the path of views without one; leave it out"),
        (json!({ "a": { "path": "/status/x" } }), &http, "`views.a.path` is a path of the server itself"),
        (
            json!({ "a": { "path": "/a/mcp" }, "b": { "path": "/a/mcp" } }),
            &http,
            "`views.b.path` is that of the view `a` too",
        ),
    ] {
        let file = write(&folder, "mcp.json", &json!({ "mcpServers": disabled, "views": views }));
        let mut command = command(&TOOLS, &[&["serve", "--proxy", &file][..], args].concat());
        let output = command.env_remove("SERVE_TOKEN").output().unwrap();
        let printed = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{views} {printed}");
        assert!(printed.contains(&format!("{file}: {error}")), "{views}: {printed}");
    }
}

/// A running server, which ends with the test.
struct Serving {
    child: Child,
    stderr: BufReader<ChildStderr>,
    address: String,
}

impl Serving {
    fn start(args: &[&str]) -> Self {
        let mut command = command(&TOOLS, &[&["serve", "--http", "0"], args].concat());
        let mut child = command.env_remove("SERVE_TOKEN").stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("serving at") {
            line.clear();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "the server has ended");
        }
        let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
        Self { child, stderr, address }
    }

    /// Reads the log up to a text.
    fn logs(&mut self, text: &str) {
        let mut line = String::new();
        while !line.contains(text) {
            line.clear();
            assert_ne!(self.stderr.read_line(&mut line).unwrap(), 0, "the server has ended");
        }
    }

    fn post(&self, path: &str, method: &str, params: &Value) -> String {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = "host: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
                    mcp-protocol-version: 2025-11-25\r\nconnection: close";
        write!(stream, "POST {path} HTTP/1.1\r\n{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        response
    }

    fn names(&self, path: &str) -> Vec<String> {
        let response = self.post(path, "tools/list", &json!({}));
        let body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
        let tools = body["result"]["tools"].as_array().unwrap_or_else(|| panic!("{body}"));
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn each_endpoint_of_the_chapter_serves_its_view() {
    let folder = tempfile::tempdir().unwrap();
    let mut configuration = chapter();
    let views = configuration["views"].as_object_mut().unwrap();
    // Without the tokens of an issuer.
    views.retain(|_, view| view.get("claims").is_none());
    configuration["mcpServers"] = servers(&folder, &["ledger", "bank_eu", "notes"]);
    let file = write(&folder, "mcp.json", &configuration);
    let mut serving = Serving::start(&["--proxy", &file]);
    let read = ["bank_eu_read_all", "bank_eu_echo", "ledger_read_all", "ledger_echo"];
    let mut names = serving.names("/finance/mcp");
    names.sort();
    let mut expected = read.map(str::to_owned);
    expected.sort();
    assert_eq!(names, expected);
    assert!(serving.names("/mcp").is_empty());
    let call = |path: &str, name: &str| serving.post(path, "tools/call", &json!({ "name": name, "arguments": {} }));
    assert!(call("/finance/mcp", "ledger_echo").starts_with("HTTP/1.1 200 "));
    for (name, hidden) in [("ledger_delete_al", "ledger_delete_all"), ("notes_ech", "notes_echo")] {
        let (near, exact) = (call("/finance/mcp", name), call("/finance/mcp", hidden));
        assert!(near.contains(&format!("no tool is named `{name}`")) && !near.contains(hidden), "{near}");
        assert!(exact.contains(&format!("no tool is named `{hidden}`")), "{exact}");
    }
    // A change is applied while the server runs, and a mistake or the loss of the views is not.
    configuration["views"]["finance"]["servers"] = json!(["notes"]);
    write(&folder, "mcp.json", &configuration);
    let started = Instant::now();
    while serving.names("/finance/mcp") != ["notes_echo", "notes_read_all"] {
        assert!(started.elapsed() < Duration::from_secs(60), "{:?}", serving.names("/finance/mcp"));
        std::thread::sleep(Duration::from_millis(50));
    }
    let views = configuration.as_object_mut().unwrap().shift_remove("views").unwrap();
    write(&folder, "mcp.json", &configuration);
    serving.logs("`views` was removed; restart the server to serve everything to all callers");
    configuration["views"] = views;
    configuration["views"]["finance"]["servers"] = json!(["none"]);
    write(&folder, "mcp.json", &configuration);
    serving.logs("`views.finance.servers`: there is no server `none`");
    assert_eq!(serving.names("/finance/mcp").len(), 2);
}

/// Attempts of a program to learn about the tools of others.
const ATTACKS: [&str; 20] = [
    "return namespaces()",
    "return search('salary delete all', 100)",
    "return search('everything of vault', 100)",
    "return describe('salary:delete_all')",
    "return describe('notes:read_all', 'vault:echo')",
    "return examples('salary:echo')",
    "return call('salary:echo', {})",
    "return call('salary:ech', {})",
    "return call('salary_echo', {})",
    "return call('echo', {})",
    "return call('run:code', { code: 'return 1' })",
    "return tools.salary.echo({})",
    "return tools.vault",
    "return Object.keys(tools).concat(Object.keys(tools.notes))",
    "return Object.getOwnPropertyNames(globalThis).map(name => `${name} ${String(globalThis[name])}`)",
    "return chain([{ tool: 'salary:echo', arguments: {} }])",
    "return chain([{ tool: 'notes:echo', arguments: {} }, { tool: 'salary:echo', arguments: {} }])",
    "try { await tools.salary.echo({}) } catch (error) { return JSON.stringify(error, Object.getOwnPropertyNames(error)) }",
    "return Promise.allSettled(['a', 'vault:echo', 'notes:ech'].map(id => call(id, { salary: 1 })))",
    "await tools.notes.echo({}); return tools.notes.non()",
];

/// Returns the body of a response, without the times of calls and the numbers of requests to a server.
fn body(response: &str) -> String {
    let mut body: Value = serde_json::from_str(response.split_once("\r\n\r\n").unwrap().1).unwrap();
    for call in body["result"]["_meta"]["rs.toolkit/calls"].as_array_mut().into_iter().flatten() {
        call.as_object_mut().unwrap().shift_remove("durationMs");
    }
    let body = body.to_string();
    let mut parts = body.split("progressToken");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest =
            part.trim_start_matches(|c: char| !c.is_ascii_digit()).trim_start_matches(|c: char| c.is_ascii_digit());
        text + "progressToken" + rest
    })
}

#[test]
fn a_program_reaches_the_tools_of_its_caller_and_learns_nothing_about_others() {
    let folder = tempfile::tempdir().unwrap();
    let views = json!({
        "staff": { "path": "/staff/mcp", "servers": ["notes"], "deny": ["notes:delete_all"] },
        "payroll": { "path": "/payroll/mcp", "servers": ["salary", "vault"] },
        "direct": { "path": "/direct/mcp", "servers": ["notes"], "deny": ["run:code"] },
    });
    for (mode, n_tools) in [("--code", 3), ("--code=only", 1)] {
        let mut alone = views.clone();
        alone.as_object_mut().unwrap().shift_remove("payroll");
        let servers_and_views = |names: &[&str], views: &Value| {
            write(
                &folder,
                &format!("{}.json", names.len()),
                &json!({ "mcpServers": servers(&folder, names), "views": views }),
            )
        };
        let start = |file: &str| {
            let serving = Serving::start(&["--proxy", file, mode, "--profile", "dev"]);
            // The tools are passed to programs when they are known.
            let started = Instant::now();
            while !serving.post("/staff/mcp", "tools/list", &json!({})).contains("tools.notes {") {
                assert!(started.elapsed() < Duration::from_secs(60));
                std::thread::sleep(Duration::from_millis(50));
            }
            serving
        };
        let beside = start(&servers_and_views(&["notes", "salary", "vault"], &views));
        let alone = start(&servers_and_views(&["notes"], &alone));
        let list = |serving: &Serving| body(&serving.post("/staff/mcp", "tools/list", &json!({})));
        assert_eq!(list(&beside), list(&alone));
        assert_eq!(beside.names("/staff/mcp").len(), n_tools);
        assert!(beside.names("/mcp").is_empty());
        assert!(!beside.names("/direct/mcp").contains(&"run_code".to_owned()));
        let run = |serving: &Serving, path: &str, code: &str| {
            body(&serving.post(path, "tools/call", &json!({ "name": "run_code", "arguments": { "code": code } })))
        };
        for code in ATTACKS {
            let (one, other) = (run(&beside, "/staff/mcp", code), run(&alone, "/staff/mcp", code));
            assert_eq!(one, other, "{code}");
            assert!(one.contains("result"), "{code}: {one}");
        }
        assert!(run(&beside, "/payroll/mcp", "return namespaces()").contains("vault"));
        let works = "await tools.salary.echo({}); return 'called'";
        assert!(run(&beside, "/payroll/mcp", works).contains("called"), "{}", run(&beside, "/payroll/mcp", works));
        for path in ["/mcp", "/direct/mcp"] {
            assert!(run(&beside, path, "return 1").contains("no tool is named `run_code`"), "{path}");
        }
    }
}
