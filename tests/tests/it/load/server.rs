//! A server in another process, and clients that can send malformed requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A timeout for operations that must not hang, even on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Protocol {
    Mcp,
    Otc,
}

pub(crate) const BOTH: [Protocol; 2] = [Protocol::Mcp, Protocol::Otc];

impl Protocol {
    pub(crate) fn health(self) -> &'static str {
        match self {
            Protocol::Mcp => "/healthz",
            Protocol::Otc => "/health",
        }
    }

    pub(crate) fn path(self) -> &'static str {
        match self {
            Protocol::Mcp => "/mcp",
            Protocol::Otc => "/tools/call",
        }
    }

    pub(crate) fn call(self, tool: &str, arguments: Value) -> String {
        let message = match self {
            Protocol::Mcp => {
                let params = json!({ "name": format!("Load_{tool}"), "arguments": arguments });
                json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params })
            }
            Protocol::Otc => json!({ "request": { "tool_id": format!("Load.{tool}@1.0.0"), "input": arguments } }),
        };
        message.to_string()
    }

    /// The credentials for a server that was started with `token=1`.
    pub(crate) fn token(self) -> &'static str {
        match self {
            Protocol::Mcp => "authorization: Bearer s3cr3t\r\n",
            Protocol::Otc => "OXP-API-Key: s3cr3t\r\n",
        }
    }
}

/// A server process, which is killed on drop.
pub(crate) struct Server {
    child: Child,
    pub(crate) protocol: Protocol,
    pub(crate) address: SocketAddr,
    diary: PathBuf,
    headers: &'static str,
}

#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) text: String,
}

impl Server {
    pub(crate) fn start(protocol: Protocol, numbers: &str) -> Self {
        let name = match protocol {
            Protocol::Mcp => "mcp",
            Protocol::Otc => "otc",
        };
        let (mut child, diary) = process(name, numbers, Stdio::null());
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let headers = if numbers.contains("token=1") { protocol.token() } else { "" };
        Self { child, protocol, address: address.trim().parse().unwrap(), diary, headers }
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    pub(crate) fn head(&self, method: &str, path: &str, length: usize, headers: &str) -> String {
        format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}\r\n"
        )
    }

    /// Starts a call without reading the response.
    pub(crate) fn begin(&self, tool: &str, arguments: Value) -> TcpStream {
        let body = self.protocol.call(tool, arguments);
        let mut stream = self.connect();
        let head = self.head("POST", self.protocol.path(), body.len(), self.headers);
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body.as_bytes()).unwrap();
        stream
    }

    pub(crate) fn call(&self, tool: &str, arguments: Value) -> Response {
        Response::read(self.begin(tool, arguments))
    }

    pub(crate) fn get(&self, path: &str, headers: &str) -> Response {
        let mut stream = self.connect();
        let _ = stream.write_all(self.head("GET", path, 0, headers).as_bytes());
        Response::read(stream)
    }

    /// Asserts that another client is served.
    #[track_caller]
    pub(crate) fn assert_serves(&self) {
        let health = self.get(self.protocol.health(), "");
        assert_eq!(health.status, 200, "{health:?}");
        let quick = self.call("quick", json!({}));
        assert_eq!(quick.status, 200, "{quick:?}");
        assert!(!quick.text.contains("error") || quick.text.contains("\"isError\":false"), "{quick:?}");
    }

    pub(crate) fn n_noted(&self, line: &str) -> usize {
        let diary = std::fs::read_to_string(&self.diary).unwrap_or_default();
        diary.lines().filter(|noted| *noted == line).count()
    }

    #[track_caller]
    pub(crate) fn wait_until_noted(&self, line: &str, n: usize) {
        until(&format!("{n} × {line}"), || self.n_noted(line) >= n);
    }

    /// Returns the peak memory in MiB.
    pub(crate) fn peak(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        peak.trim().trim_end_matches(" kB").parse::<usize>().unwrap() / 1024
    }

    /// Returns true if a thread of the process has this name.
    #[cfg(target_os = "linux")]
    pub(crate) fn has_thread(&self, name: &str) -> bool {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let names = threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
        names.into_iter().any(|of| of.trim_end() == name)
    }

    pub(crate) fn terminate(&self) {
        terminate(&self.child);
    }

    #[track_caller]
    pub(crate) fn assert_ends(&mut self) {
        until("the end of the process", || self.child.try_wait().unwrap().is_some());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_file(&self.diary);
    }
}

impl Response {
    /// Reads to the end; a connection that breaks off is a response of status 0.
    pub(crate) fn read(mut stream: TcpStream) -> Self {
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let status = text.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        Self { status, text }
    }
}

/// Starts a server process with its own log file.
pub(crate) fn process(transport: &str, numbers: &str, input: Stdio) -> (Child, PathBuf) {
    static N: AtomicUsize = AtomicUsize::new(0);
    let n = N.fetch_add(1, Ordering::Relaxed);
    let diary = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("load-{}-{n}.diary", std::process::id()));
    let child = Command::new(env!("CARGO_BIN_EXE_fixture_load"))
        .arg(transport)
        .args(numbers.split_whitespace())
        .env("FIXTURE_DIARY", &diary)
        .stdin(input)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    (child, diary)
}

pub(crate) fn terminate(child: &Child) {
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
}

#[track_caller]
pub(crate) fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never comes to {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
