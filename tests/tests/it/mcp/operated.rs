//! `serve --proxy --http` as its operator sees it: status, metrics, and servers that fail.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A running proxy.
pub struct Operated {
    pub folder: PathBuf,
    child: Child,
    pub address: String,
    token: Option<&'static str>,
    /// The lines of its log.
    log: Arc<Mutex<Vec<String>>>,
}

/// Returns the configuration of a peer.
pub fn peer(arguments: &[&str]) -> Value {
    json!({ "command": env!("CARGO_BIN_EXE_fixture_peer"), "args": arguments })
}

#[track_caller]
pub fn until(mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < end, "it does not come to that");
        std::thread::sleep(Duration::from_millis(20));
    }
}

impl Operated {
    pub fn new(servers: &Value, flags: &[&str]) -> Self {
        Self::with_token(servers, flags, None)
    }

    pub fn with_token(servers: &Value, flags: &[&str], token: Option<&'static str>) -> Self {
        static N: AtomicUsize = AtomicUsize::new(0);
        let n = N.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-operated-{}-{n}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("mcp.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
        let file = folder.join("mcp.json");
        Self::with_file(folder, &file, flags, token)
    }

    /// Starts a proxy whose configuration is read from any kind of file.
    pub fn with_file(folder: PathBuf, file: &Path, flags: &[&str], token: Option<&'static str>) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
        command.args(["serve", "--http", "0", "--proxy"]).arg(file).args(flags);
        if !flags.contains(&"--proxy-wait") {
            command.args(["--proxy-wait", "30s"]);
        }
        command.env_remove("SERVE_TOKEN").envs(token.map(|token| ("SERVE_TOKEN", token)));
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let address = stderr.by_ref().map_while(Result::ok).find_map(|line| {
            log.lock().unwrap().push(line.clone());
            Some(line.split_once("http://")?.1.strip_suffix("/mcp")?.to_owned())
        });
        let logging = Arc::clone(&log);
        std::thread::spawn(move || stderr.map_while(Result::ok).for_each(|line| logging.lock().unwrap().push(line)));
        Self { address: address.unwrap_or_else(|| panic!("{:?}", log.lock().unwrap())), folder, child, token, log }
    }

    /// Replaces the configuration file.
    pub fn configure(&self, servers: &Value) {
        self.write(&json!({ "mcpServers": servers }).to_string());
    }

    pub fn write(&self, text: &str) {
        let (new, old) = (self.folder.join("new.json"), self.folder.join("mcp.json"));
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, old).unwrap();
    }

    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(kill.unwrap().success());
    }

    pub fn logged(&self, text: &str) -> bool {
        self.log.lock().unwrap().iter().any(|line| line.contains(text))
    }

    /// Returns the number of lines of the log with a text.
    pub fn count(&self, text: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|line| line.contains(text)).count()
    }

    /// Sends a request and returns the status and the body.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let token = self.token.map(|token| format!("authorization: Bearer {token}\r\n")).unwrap_or_default();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\ncontent-type: application/json\r\n{token}\
             content-length: {}\r\n\r\n",
            self.address,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes()).unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).unwrap();
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
    }

    pub fn status(&self) -> Value {
        let (status, body) = self.ask("GET", "/status", "");
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).unwrap()
    }

    /// Returns the status of one backend, or `null`.
    pub fn backend(&self, name: &str) -> Value {
        let status = self.status();
        let mut backends = status["backends"].as_array().unwrap().iter();
        backends.find(|backend| backend["name"] == name).cloned().unwrap_or_default()
    }

    pub fn is(&self, name: &str, state: &str) -> bool {
        self.backend(name)["state"] == state
    }

    pub fn metrics(&self) -> String {
        self.ask("GET", "/metrics", "").1
    }

    /// Calls a tool and returns the result, or the error.
    pub fn call(&self, tool: &str, arguments: &Value) -> Value {
        let params = json!({ "name": tool, "arguments": arguments });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
        let (_, body) = self.ask("POST", "/mcp", &request.to_string());
        let response: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"));
        response.get("result").unwrap_or(&response["error"]).clone()
    }

    /// Returns the process id of a peer.
    pub fn pid(&self, name: &str) -> u64 {
        let result = self.call(&format!("{name}_pid"), &json!({}));
        result["content"][0]["text"].as_str().and_then(|pid| pid.parse().ok()).unwrap_or_else(|| panic!("{result}"))
    }

    pub fn names(&self) -> Vec<String> {
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let (_, body) = self.ask("POST", "/mcp", &request.to_string());
        let response: Value = serde_json::from_str(&body).unwrap();
        let tools = response["result"]["tools"].as_array().unwrap();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    }
}

impl Drop for Operated {
    fn drop(&mut self) {
        // The proxy stops its servers.
        let _ = Command::new("kill").arg(self.child.id().to_string()).status();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn kill(pid: u64) {
    assert!(Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
}

#[test]
fn the_status_contains_each_backend_and_the_reasons_without_secrets() {
    let mut mute = peer(&["mute", "hunter2"]);
    mute["env"] = json!({ "KEY": "hunter2" });
    mute["toolkit"] = json!({ "startTimeout": "100ms" });
    let mut excessive = peer(&["usual"]);
    excessive["toolkit"] = json!({ "maxTools": 3 });
    let gone = json!({ "url": "http://127.0.0.1:1/hunter2?key=hunter2", "headers": { "authorization": "hunter2" } });
    let servers = json!({
        "worse": peer(&["usual", "bad"]), "mute": mute, "gone": gone, "math": peer(&["usual"]), "usual": peer(&["usual"]),
        "excessive": excessive, "absent": { "command": "/nowhere/${HOME}/at-all", "args": ["hunter2"] },
    });
    let proxy = Operated::new(&servers, &["--deny", "usual:die"]);
    until(|| proxy.is("mute", "backing_off") && proxy.is("gone", "backing_off"));

    let bad = proxy.backend("worse");
    assert_eq!((&bad["state"], &bad["kind"], &bad["tools"]), (&json!("ready"), &json!("mcp"), &json!(5)));
    assert_eq!((&bad["left_out"], bad["left_out_reasons"].as_array().unwrap().len()), (&json!(4), 4), "tools: {bad}");
    assert!(bad["left_out_reasons"].to_string().contains("`whispers`, which is left out"), "{bad}");
    assert!(bad["since"].as_f64().unwrap() > 1.7e9 && bad["next_attempt"].is_null(), "{bad}");
    let mute = proxy.backend("mute");
    assert!(mute["last_error"].as_str().unwrap().contains("did not respond within 100ms"), "{mute}");
    until(|| proxy.backend("mute")["next_attempt"].is_f64());
    let excessive = proxy.backend("excessive");
    assert_eq!((&excessive["state"], &excessive["tools"]), (&json!("failed"), &json!(0)));
    assert!(excessive["last_error"].as_str().unwrap().contains("lists more than 3 tools"), "{excessive}");
    let math = proxy.backend("math");
    assert!(proxy.is("math", "failed") && math["last_error"].as_str().unwrap().contains("namespace `math`"), "{math}");
    until(|| !proxy.backend("absent")["last_error"].is_null());
    assert_eq!(
        proxy.backend("absent")["last_error"],
        "the MCP server `absent` cannot be started: entity not found",
        "without the command, which may contain a variable"
    );
    assert!(proxy.logged("/at-all"), "the log contains the command");
    let usual = proxy.backend("usual");
    let n_listed = proxy.names().iter().filter(|name| name.starts_with("usual_")).count();
    assert!(proxy.names().iter().all(|name| name != "usual_die"), "the filter of the server applies");
    assert_eq!((&usual["tools"], &usual["left_out"]), (&json!(n_listed), &json!(0)));
    let told = proxy.status().to_string() + &proxy.metrics();
    for secret in ["hunter2", "127.0.0.1", "nowhere", "at-all", env!("CARGO_BIN_EXE_fixture_peer")] {
        assert!(!told.contains(secret), "{secret} is in {told}");
    }
}

#[test]
fn a_killed_server_is_reported_and_started_again() {
    let proxy = Operated::new(&json!({ "peer": peer(&["usual"]), "other": peer(&["usual"]) }), &[]);
    let (pid, other) = (proxy.pid("peer"), proxy.pid("other"));
    assert_eq!(proxy.backend("peer")["restarts"], 0);
    kill(pid);
    until(|| proxy.backend("peer")["last_error"].to_string().contains("signal: 9"));
    until(|| proxy.is("peer", "ready") && proxy.backend("peer")["restarts"] == 1);
    assert_ne!(proxy.pid("peer"), pid);
    assert_eq!(proxy.pid("other"), other, "other servers are not affected");
    let metrics = proxy.metrics();
    for line in [
        "toolkit_mcp_backend_restarts_total{backend=\"peer\"} 1",
        "toolkit_mcp_backend_restarts_total{backend=\"other\"} 0",
        "toolkit_mcp_backend_tasks_running{backend=\"other\"} 0",
        "toolkit_mcp_backend_up{backend=\"peer\"} 1",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line} is not in {metrics}");
    }
}

#[test]
fn calls_of_each_backend_are_counted_by_outcome() {
    let mut hanging = peer(&["usual"]);
    hanging["toolkit"] = json!({ "timeout": "200ms" });
    let proxy = Operated::new(&json!({ "peer": hanging, "idle": peer(&["usual"]) }), &[]);
    assert_eq!(proxy.call("peer_hang", &json!({}))["isError"], true);
    assert_eq!(proxy.call("peer_fail", &json!({}))["isError"], true);
    proxy.pid("peer");
    let calls = proxy.backend("peer")["calls"].clone();
    let errors = json!({ "failed": 1, "timed_out": 1 });
    assert_eq!((&calls["running"], &calls["ended"], &calls["errors"]), (&json!(0), &json!(3), &errors));
    assert!(calls["seconds"].as_f64().unwrap() >= 0.2, "{calls}");
    let metrics = proxy.metrics();
    for line in [
        "toolkit_mcp_backend_calls_total{backend=\"peer\",outcome=\"ok\"} 1",
        "toolkit_mcp_backend_calls_total{backend=\"peer\",outcome=\"timed_out\"} 1",
        "toolkit_mcp_backend_calls_total{backend=\"peer\",outcome=\"failed\"} 1",
        "toolkit_mcp_backend_calls_running{backend=\"peer\"} 0",
        "toolkit_mcp_backend_call_seconds_bucket{backend=\"peer\",le=\"+Inf\"} 3",
        "toolkit_mcp_backend_call_seconds_count{backend=\"peer\"} 3",
        "toolkit_mcp_backend_call_seconds_count{backend=\"idle\"} 0",
    ] {
        assert!(metrics.lines().any(|other| other == line), "{line} is not in {metrics}");
    }
}

#[test]
fn the_status_requires_the_token_of_clients() {
    let mut proxy = Operated::with_token(&json!({}), &[], Some("s3cret"));
    assert_eq!(proxy.status()["backends"], json!([]));
    let (code, out, err) = status(&[&proxy.address], Some("s3cret"));
    assert_eq!((code, &*out), (Some(0), ""));
    assert!(err.starts_with("note: ") && err.ends_with("tools, 0 running calls, and no server behind it\n"), "{err}");
    proxy.token = None;
    assert_eq!(proxy.ask("GET", "/status", "").0, 401);
    assert_eq!(proxy.ask("GET", "/healthz", "").0, 200);
}

/// Runs the command `status`. Returns its exit code, its output and its errors.
fn status(args: &[&str], token: Option<&str>) -> (Option<i32>, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    command.arg("status").args(args).env_remove("SERVE_TOKEN").envs(token.map(|token| ("SERVE_TOKEN", token)));
    let output = command.output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn the_status_command_exits_with_1_unless_all_servers_are_ready() {
    let listing = ["usual", "bad"];
    let proxy = Operated::with_token(&json!({ "peer": peer(&listing) }), &[], Some("s3cret"));
    let port = proxy.address.rsplit(':').next().unwrap();
    proxy.call("peer_good", &json!({}));
    for address in [port, &proxy.address, &format!("http://{}/mcp", proxy.address)] {
        let (code, out, err) = status(&[address], Some("s3cret"));
        assert_eq!((code, &*err), (Some(0), ""));
        let columns: Vec<&str> = out.trim_end_matches('\n').split('\t').collect();
        assert_eq!(columns[..3], ["peer", "ready", "5"], "{out}");
        assert_eq!(columns[4..], ["1", "1", "0", ""], "{out}");
    }
    let (code, out, _) = status(&[port, "--json"], Some("s3cret"));
    let json: Value = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &json["backends"][0]["name"]), (Some(0), &json!("peer")));
    let (code, out, _) = status(&[port, "--json"], None);
    assert_eq!(
        (code, &*out),
        (
            Some(1),
            &*format!(
                "{{\"error\":{{\"kind\":\"unauthorized\",\"message\":\"http://127.0.0.1:{port}: the server requires a valid token; set SERVE_TOKEN, or name the variable of the token with --token-env\"}}}}\n"
            )
        )
    );

    proxy.configure(&json!({ "peer": peer(&listing), "absent": { "command": "/nowhere/at-all" }, "wrong": 1 }));
    until(|| !proxy.backend("absent")["last_error"].is_null());
    let (code, out, err) = status(&[port], Some("s3cret"));
    assert_eq!(code, Some(1));
    assert!(out.lines().any(|line| line.starts_with("absent\t") && line.contains("cannot be started")), "{out}");
    assert!(err.contains("the server `wrong`: must be an object"), "{err}");

    let (code, _, err) = status(&["1"], None);
    assert!(code == Some(1) && err.contains("http://127.0.0.1:1: the server cannot be reached"), "{err}");
    let (code, _, err) = status(&["ftp://x"], None);
    assert!(code == Some(2) && err.contains("`https://` or `http://`"), "{err}");
}

#[test]
fn the_status_is_a_table_on_a_terminal() {
    let proxy =
        Operated::new(&json!({ "peer": peer(&["usual", "bad"]), "absent": { "command": "/nowhere/at-all" } }), &[]);
    until(|| proxy.is("absent", "backing_off"));
    let program = env!("CARGO_BIN_EXE_fixture_tools");
    let mut command = Command::new("script");
    command.args(["-qec", &format!("stty cols 100 && {program} status {}", proxy.address), "/dev/null"]);
    let Ok(output) = command.env("NO_COLOR", "1").env("TERM", "xterm").stdin(Stdio::null()).output() else {
        return test_support::skipped(1);
    };
    let page = String::from_utf8(output.stdout).unwrap().replace("\r\n", "\n");
    let lines: Vec<&str> = page.lines().collect();
    assert!(lines[0].ends_with("tools, 0 running calls"), "{page}");
    let headers = ["NAME", "STATE", "FOR", "TOOLS", "LEFT", "OUT", "CALLS", "RUNNING", "ERRORS", "RESTARTS"];
    assert_eq!(lines[1].split_whitespace().collect::<Vec<_>>(), headers, "{page}");
    let row = lines.iter().position(|line| line.starts_with("absent ")).unwrap();
    assert!(lines[row + 1].contains("cannot be started: entity not found"), "{page}");
    let row = lines.iter().position(|line| line.starts_with("peer ")).unwrap();
    assert!(lines[row + 1..].iter().any(|line| line.contains("  the MCP server `peer` lists `whispers`")), "{page}");
    assert!(!page.contains('\u{e0041}'), "{page}");
}

#[test]
fn a_list_of_100000_tools_is_rejected_before_it_is_parsed() {
    let proxy = Operated::new(&json!({ "many": peer(&["usual", "many"]) }), &[]);
    until(|| proxy.is("many", "failed"));
    assert_eq!(proxy.backend("many")["last_error"], "the MCP server `many` lists more than 10000 tools");
    let status = std::fs::read_to_string(format!("/proc/{}/status", proxy.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap().trim().trim_end_matches(" kB");
    // The whole list would take 600 MB.
    assert!(peak.parse::<u64>().unwrap() < 200_000, "{peak} kB");
}
