//! Replicas behind load balancers of other authors, restarted one after the other under load: no call fails, and none runs
//! twice. `tests/balancers/run` installs the balancers and runs these tests.
//!
//! What ran is read from a file to which each call appends its start and its end.

mod routed_tasks;

use std::collections::HashMap;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;

use super::server::{PATIENCE, terminate, until};
use super::*;

/// The configurations that operators use.
const DEPLOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy");
const N_CLIENTS: u64 = 32;
/// The error of a connection that ends before a response.
const CLOSED: &str = "the connection was closed before the response";

/// Returns the number of times that each replica restarts.
fn n_rounds() -> usize {
    std::env::var("TOOLKIT_RESTARTS").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

/// Returns an address where nothing listens.
fn free() -> SocketAddr {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap()
}

/// A process that is killed on drop.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Three replicas on addresses that stay the same.
struct Replicas {
    protocol: Protocol,
    addresses: [SocketAddr; 3],
    processes: Vec<Process>,
    numbers: &'static str,
    folder: PathBuf,
}

impl Replicas {
    fn start(protocol: Protocol, numbers: &'static str, name: &str) -> Self {
        Self::start_with(protocol, numbers, name, Self::spawn)
    }

    fn start_with(
        protocol: Protocol,
        numbers: &'static str,
        name: &str,
        spawn: impl Fn(&Self, usize) -> Process,
    ) -> Self {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("balancers-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let mut replicas =
            Self { protocol, addresses: [free(), free(), free()], processes: Vec::new(), numbers, folder };
        for nth in 0..3 {
            let process = spawn(&replicas, nth);
            replicas.processes.push(process);
        }
        replicas
    }

    /// Starts a replica and waits until it is healthy.
    fn spawn(&self, nth: usize) -> Process {
        let address = self.addresses[nth];
        let name = if self.protocol == Protocol::Mcp { "mcp" } else { "otc" };
        let child = Command::new(env!("CARGO_BIN_EXE_fixture_load"))
            .args([name, &format!("port={}", address.port())])
            .args(self.numbers.split_whitespace())
            .env("FIXTURE_DIARY", self.diary())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = Process(child.unwrap());
        self.until_healthy(nth);
        process
    }

    fn until_healthy(&self, nth: usize) {
        until("a healthy replica", || {
            let request = format!("GET {} HTTP/1.0\r\nhost: localhost\r\n\r\n", self.protocol.health());
            let mut response = String::new();
            let asked = TcpStream::connect(self.addresses[nth]).and_then(|mut stream| {
                stream.write_all(request.as_bytes())?;
                stream.read_to_string(&mut response)
            });
            asked.is_ok() && response.contains(" 200 ")
        });
    }

    /// Ends a replica as an operator does, and starts it again.
    fn restart(&mut self, nth: usize) {
        self.restart_with(nth, Self::spawn);
    }

    fn restart_with(&mut self, nth: usize, spawn: impl Fn(&Self, usize) -> Process) {
        terminate(&self.processes[nth].0);
        until("the end of a replica", || self.processes[nth].0.try_wait().unwrap().is_some());
        self.processes[nth] = spawn(self, nth);
    }

    fn kill(&mut self, nth: usize) {
        let _ = self.processes[nth].0.kill();
        let _ = self.processes[nth].0.wait();
    }

    fn diary(&self) -> PathBuf {
        self.folder.join("diary")
    }

    /// Returns the number of starts of each call.
    fn starts(&self) -> HashMap<u64, usize> {
        let diary = std::fs::read_to_string(self.diary()).unwrap();
        let mut starts = HashMap::new();
        for id in diary.lines().filter_map(|line| line.strip_prefix("start ")?.parse().ok()) {
            *starts.entry(id).or_default() += 1;
        }
        starts
    }

    /// Writes one of the configurations with the addresses of this test.
    fn configuration(&self, file: &str, front: SocketAddr) -> PathBuf {
        let mut text = std::fs::read_to_string(Path::new(DEPLOY).join(file)).unwrap();
        for (from, to) in [("127.0.0.1:8080", front)]
            .into_iter()
            .chain(["127.0.0.1:8001", "127.0.0.1:8002", "127.0.0.1:8003"].into_iter().zip(self.addresses))
        {
            assert!(text.contains(from), "{file}: {from}");
            text = text.replace(from, &to.to_string());
        }
        let path = self.folder.join(file);
        std::fs::write(&path, text.replace("/healthz", self.protocol.health())).unwrap();
        path
    }
}

impl Drop for Replicas {
    fn drop(&mut self) {
        self.processes.clear();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The calls of all clients: which were answered, and how the others failed.
#[derive(Default)]
struct Load {
    /// True if clients repeat a call on a new connection if the one that they kept is closed before a response. A call of
    /// a replica that dies would run twice.
    repeats: bool,
    next_id: AtomicU64,
    has_ended: AtomicBool,
    /// Calls that were repeated, since the balancer had closed the connection that the client kept.
    n_repeated: AtomicU64,
    answered: std::sync::Mutex<Vec<u64>>,
    failed: std::sync::Mutex<Vec<(u64, String)>>,
}

impl Load {
    /// Calls until the end, on connections that are kept or on one for each call.
    fn call(&self, protocol: Protocol, front: SocketAddr, is_kept: bool) {
        let mut connection = None;
        while !self.has_ended.load(Ordering::Relaxed) {
            let id = self.next_id.fetch_add(1, Ordering::Relaxed);
            // Most calls are short, and some take half a second.
            let ms = if id.is_multiple_of(97) { 500 } else { 1 + id % 9 };
            let is_reused = connection.is_some();
            let mut result = once(&mut connection, protocol, front, id, ms, is_kept);
            if self.repeats && is_reused && result.as_ref().is_err_and(|error| error.contains(CLOSED)) {
                self.n_repeated.fetch_add(1, Ordering::Relaxed);
                result = once(&mut connection, protocol, front, id, ms, is_kept);
            }
            match result {
                Ok(()) => self.answered.lock().unwrap().push(id),
                Err(error) => {
                    connection = None;
                    self.failed.lock().unwrap().push((id, error));
                }
            }
        }
    }
}

/// Makes one call.
fn once(
    connection: &mut Option<BufReader<TcpStream>>,
    protocol: Protocol,
    front: SocketAddr,
    id: u64,
    ms: u64,
    is_kept: bool,
) -> Result<(), String> {
    let text = |error: std::io::Error| match error.kind() {
        ErrorKind::ConnectionReset | ErrorKind::BrokenPipe | ErrorKind::UnexpectedEof => CLOSED.to_owned(),
        _ => error.to_string(),
    };
    let mut stream = match connection.take() {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect(front).map_err(text)?;
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.set_nodelay(true).unwrap();
            BufReader::new(stream)
        }
    };
    let mut body = protocol.call("record", json!({ "id": id, "ms": ms }));
    let end = if is_kept { "" } else { "connection: close\r\n" };
    // A client of Open Tool Calling that reads events would get the result as one.
    let mut headers = "accept: application/json\r\n";
    if protocol == Protocol::Mcp {
        headers = "accept: application/json, text/event-stream\r\n";
    }
    if protocol == Protocol::Mcp && id.is_multiple_of(2) {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let mut message: serde_json::Value = serde_json::from_str(&body).unwrap();
        message["params"]["_meta"] = meta;
        body = message.to_string();
        headers = "accept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: Load_record\r\n";
    }
    let head = format!(
        "POST {} HTTP/1.1\r\nhost: localhost\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n{end}{headers}\r\n",
        protocol.path(),
        body.len()
    );
    stream.get_mut().write_all(format!("{head}{body}").as_bytes()).map_err(text)?;
    let (mut status, mut length, mut is_closed) = (String::new(), 0, !is_kept);
    if stream.read_line(&mut status).map_err(text)? == 0 {
        return Err(CLOSED.to_owned());
    }
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line).map_err(text)? == 0 {
            return Err(format!("the connection ended after {status:?}"));
        }
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        is_closed |= line == "connection: close";
        if let Some(n) = line.strip_prefix("content-length: ") {
            length = n.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).map_err(text)?;
    let body = String::from_utf8_lossy(&body);
    if !status.contains(" 200 ") || !body.contains(&format!("{id}")) || body.contains("\"isError\":true") {
        return Err(format!("{} {body}", status.trim_end()));
    }
    if !is_closed {
        *connection = Some(stream);
    }
    Ok(())
}

/// Runs clients while `disturb` runs. Returns the calls, and the starts of each.
fn under_load(
    replicas: &mut Replicas,
    front: SocketAddr,
    repeats: bool,
    disturb: impl FnOnce(&mut Replicas),
) -> (Load, HashMap<u64, usize>) {
    test_support::until_it_listens(front);
    let (load, protocol) = (Load { repeats, ..Load::default() }, replicas.protocol);
    std::thread::scope(|scope| {
        for client in 0..N_CLIENTS {
            let load = &load;
            scope.spawn(move || load.call(protocol, front, client % 2 == 0));
        }
        disturb(replicas);
        load.has_ended.store(true, Ordering::Relaxed);
    });
    let starts = replicas.starts();
    (load, starts)
}

/// Restarts each replica in turn, several times; no call may fail or run twice.
fn roll(name: &str, mut replicas: Replicas, front: SocketAddr, mut restart: impl FnMut(&mut Replicas, usize)) {
    // nginx closes kept connections when it reads its configuration again.
    let repeats = name == "nginx";
    let (load, starts) = under_load(&mut replicas, front, repeats, |replicas| {
        for _ in 0..n_rounds() {
            for nth in 0..3 {
                restart(replicas, nth);
            }
        }
    });
    let answered = load.answered.into_inner().unwrap();
    let failed = load.failed.into_inner().unwrap();
    let (n_repeated, n_failed) = (load.n_repeated.into_inner(), failed.len());
    println!(
        "{name}, {:?}: {} calls answered, {n_failed} failed, {n_repeated} repeated on a new connection",
        replicas.protocol,
        answered.len(),
    );
    assert!(failed.is_empty(), "{} calls failed: {:?}", failed.len(), &failed[..failed.len().min(5)]);
    let others: Vec<_> = answered.iter().filter(|id| starts.get(id) != Some(&1)).collect();
    assert!(others.is_empty(), "{} calls did not run once: {:?}", others.len(), &others[..others.len().min(5)]);
    assert_eq!(starts.len(), answered.len());
    assert!(answered.len() > 1000, "{} calls are no load", answered.len());
    test_support::ran(answered.len());
}

fn haproxy(configuration: &Path) -> Process {
    Process(Command::new("haproxy").args(["-db", "-f"]).arg(configuration).stderr(Stdio::null()).spawn().unwrap())
}

#[test]
#[ignore = "needs haproxy"]
fn replicas_behind_haproxy_restart_without_losing_or_repeating_a_call() {
    for protocol in [Protocol::Mcp, Protocol::Otc] {
        let replicas = Replicas::start(protocol, "drain_delay=2", "haproxy");
        let front = free();
        let _haproxy = haproxy(&replicas.configuration("haproxy.cfg", front));
        roll("haproxy", replicas, front, |replicas, nth| {
            replicas.restart(nth);
            // Two checks until it is back.
            std::thread::sleep(Duration::from_millis(1200));
        });
    }
}

#[test]
#[ignore = "needs haproxy"]
fn a_replica_behind_haproxy_that_is_killed_loses_only_the_calls_that_it_runs_and_none_runs_twice() {
    let mut replicas = Replicas::start(Protocol::Mcp, "drain_delay=2", "killed");
    let front = free();
    let _haproxy = haproxy(&replicas.configuration("haproxy.cfg", front));
    let (load, starts) = under_load(&mut replicas, front, false, |replicas| {
        for nth in [0, 1, 2, 0, 1, 2] {
            replicas.kill(nth);
            std::thread::sleep(Duration::from_millis(500));
            replicas.processes[nth] = replicas.spawn(nth);
            std::thread::sleep(Duration::from_millis(1200));
        }
    });
    let failed = load.failed.into_inner().unwrap();
    println!("killed: {} failed", failed.len());
    assert!((1..=6 * N_CLIENTS as usize).contains(&failed.len()), "{} failed", failed.len());
    let twice: Vec<_> = starts.iter().filter(|(_, n)| **n > 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
}

/// Starts nginx with the configuration of the replicas, and returns its file.
fn nginx(replicas: &Replicas, front: SocketAddr) -> (PathBuf, Process) {
    let configuration = replicas.configuration("nginx.conf", front);
    let nginx = Command::new("nginx")
        .arg("-p")
        .arg(&replicas.folder)
        .arg("-c")
        .arg(&configuration)
        .args(["-g", "daemon off;"])
        .stderr(Stdio::null())
        .spawn();
    (configuration, Process(nginx.unwrap()))
}

/// Restarts a replica behind nginx by the script for it.
fn roll_nginx(replicas: &mut Replicas, nth: usize, configuration: &Path, spawn: impl Fn(&Replicas, usize) -> Process) {
    // The script runs this command, and this program does what it stands for.
    let asked = replicas.folder.join("restart");
    let command = "touch \"$1\"; while [ -e \"$1\" ]; do sleep 0.05; done";
    let mut rolling = Command::new(Path::new(DEPLOY).join("nginx-roll"))
        .arg(configuration)
        .arg(replicas.addresses[nth].to_string())
        .args(["sh", "-c", command, "sh"])
        .arg(&asked)
        .env("NGINX_ROLL_WAIT", "1")
        .spawn()
        .unwrap();
    until("the request to restart", || asked.exists());
    replicas.restart_with(nth, spawn);
    std::fs::remove_file(&asked).unwrap();
    assert!(rolling.wait().unwrap().success());
}

#[test]
#[ignore = "needs nginx"]
fn replicas_behind_nginx_restart_without_losing_or_repeating_a_call() {
    for protocol in [Protocol::Mcp, Protocol::Otc] {
        let replicas = Replicas::start(protocol, "drain_delay=0", "nginx");
        let front = free();
        let (configuration, _nginx) = nginx(&replicas, front);
        roll("nginx", replicas, front, |replicas, nth| roll_nginx(replicas, nth, &configuration, Replicas::spawn));
    }
}
