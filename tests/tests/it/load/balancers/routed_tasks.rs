//! Tasks behind balancers: each request reaches the replica that runs the task, and results survive a rolling restart.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::Value;

use super::*;

/// The revisions in which calls become tasks.
#[derive(Clone, Copy, Debug, PartialEq)]
enum TaskRevision {
    /// Tasks are requested in a session, whose requests go to one replica as long as the replicas are the same.
    V20251125,
    /// Requests have no session. The clients of the Python SDK do not send the id of the task in a header.
    V20260728 { with_name: bool },
}

/// A client of one task.
struct TaskClient {
    front: SocketAddr,
    revision: TaskRevision,
    session: Option<String>,
    task: String,
}

impl TaskClient {
    /// Starts a task, which takes this time.
    fn start(front: SocketAddr, revision: TaskRevision, id: u64, ms: u64) -> Self {
        let mut client = Self { front, revision, session: None, task: String::new() };
        if revision == TaskRevision::V20251125 {
            let info = json!({ "name": "balanced", "version": "1" });
            let params = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info });
            let (head, _) = client.send("initialize", params).unwrap();
            let name = head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
            client.session = Some(name.unwrap_or_else(|| panic!("{head}")).to_owned());
        }
        let mut params = json!({ "name": "Load_long", "arguments": { "id": id, "ms": ms } });
        if revision == TaskRevision::V20251125 {
            params["task"] = json!({});
        }
        let created = client.result("tools/call", params);
        let task = if revision == TaskRevision::V20251125 { &created["task"] } else { &created };
        task["taskId"].as_str().unwrap_or_else(|| panic!("{created}")).clone_into(&mut client.task);
        client
    }

    /// Returns the name of the replica that runs the task.
    fn replica(&self) -> &str {
        self.task.split_once('.').unwrap().0
    }

    fn about(&self, method: &str) -> Value {
        self.result(method, json!({ "taskId": self.task }))
    }

    fn status(&self) -> Value {
        self.about("tasks/get")["status"].clone()
    }

    /// Returns the text of the result.
    fn text(&self) -> Value {
        let ended = match self.revision {
            TaskRevision::V20251125 => self.about("tasks/result"),
            TaskRevision::V20260728 { .. } => self.about("tasks/get")["result"].clone(),
        };
        ended["content"][0]["text"].clone()
    }

    #[track_caller]
    fn result(&self, method: &str, params: Value) -> Value {
        let (_, message) = self.send(method, params).unwrap();
        assert!(message.get("error").is_none(), "{method} of {}: {message}", self.task);
        message["result"].clone()
    }

    /// Sends a request once, on a connection of its own. Returns the head of the response and the message, or the response.
    fn send(&self, method: &str, mut params: Value) -> Result<(String, Value), String> {
        let mut headers = String::new();
        match self.revision {
            TaskRevision::V20251125 if self.session.is_none() => {}
            TaskRevision::V20251125 => headers += "mcp-protocol-version: 2025-11-25\r\n",
            TaskRevision::V20260728 { with_name } => {
                params["_meta"] = json!({
                    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                    "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
                });
                headers += &format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n");
                match (params["name"].as_str(), params["taskId"].as_str()) {
                    (Some(name), _) => headers += &format!("mcp-name: {name}\r\n"),
                    (_, Some(task)) if with_name => headers += &format!("mcp-name: {task}\r\n"),
                    _ => {}
                }
            }
        }
        if let Some(session) = &self.session {
            headers += &format!("mcp-session-id: {session}\r\n");
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\nconnection: close\r\n\
             accept: application/json, text/event-stream\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut response = String::new();
        let mut stream = TcpStream::connect(self.front).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(request.as_bytes()).map_err(|error| error.to_string())?;
        stream.read_to_string(&mut response).map_err(|error| error.to_string())?;
        let (head, body) = response.split_once("\r\n\r\n").ok_or(&response)?;
        let json = body.find("{\"").map(|at| &body[at..]).ok_or(&response)?;
        let message = serde_json::Deserializer::from_str(json).into_iter().next();
        Ok((head.to_lowercase(), message.and_then(Result::ok).ok_or(&response)?))
    }
}

impl Replicas {
    /// Starts the command `serve` of a replica with its name and a directory of tasks, and waits until it is healthy.
    fn serve(&self, nth: usize) -> Process {
        let (address, name) = (self.addresses[nth].to_string(), NAMES[nth]);
        let child = Command::new(env!("CARGO_BIN_EXE_fixture_load"))
            .args(["serve", "--http", &address, "--drain-delay", "2s", "--replica", name, "--task-after", "1ms"])
            .arg("--task-dir")
            .arg(self.folder.join(format!("tasks-{name}")))
            .env("FIXTURE_DIARY", self.diary())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let process = Process(child.unwrap());
        self.until_healthy(nth);
        process
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// The time of a task that is not cancelled. It is longer than the drain delay, in which a replica answers as before.
const LONG_MS: u64 = 3_000;

/// Starts tasks, cancels some, restarts all replicas while the others run, and reads the results. Each request is sent once.
/// While its replica restarts, requests about a task wait for it if `waits`.
fn tasks(
    mut replicas: Replicas,
    front: SocketAddr,
    revision: TaskRevision,
    waits: bool,
    mut restart: impl FnMut(&mut Replicas, usize),
) {
    test_support::until_it_listens(front);
    let mut next_id = 0..;
    let mut start = |n: usize, ms: u64| -> Vec<(u64, TaskClient)> {
        next_id.by_ref().take(n).map(|id| (id, TaskClient::start(front, revision, id, ms))).collect()
    };
    let cancelled = start(12, 600_000);
    for (_, task) in &cancelled {
        assert_eq!(task.status(), "working", "{}", task.task);
        task.about("tasks/cancel");
        until("a cancelled task", || task.status() == "cancelled");
    }
    let mut kept = start(12, 100);
    let seen: BTreeSet<&str> = cancelled.iter().chain(&kept).map(|(_, task)| task.replica()).collect();
    assert_eq!(seen, NAMES.into());
    for (nth, name) in NAMES.into_iter().enumerate() {
        // Those of this replica end while it drains, and all are asked about meanwhile.
        let drained = start(12, LONG_MS);
        let has_restarted = AtomicBool::new(false);
        let failed = std::thread::scope(|scope| {
            let polls = scope.spawn(|| {
                let mut failed = Vec::new();
                while !has_restarted.load(Ordering::Relaxed) {
                    for (_, task) in &drained {
                        let asked = task.send("tasks/get", json!({ "taskId": task.task }));
                        match asked {
                            Ok((_, message)) if message["result"]["status"].is_string() => {}
                            other => failed.push((task.replica().to_owned(), format!("{other:?}"))),
                        }
                    }
                }
                failed
            });
            restart(&mut replicas, nth);
            has_restarted.store(true, Ordering::Relaxed);
            polls.join().unwrap()
        });
        let others: Vec<_> = failed.iter().filter(|(replica, _)| waits || replica != name).collect();
        assert!(others.is_empty(), "{others:?}");
        kept.extend(drained);
    }
    for (id, task) in &kept {
        assert_eq!((task.status(), task.text()), (json!("completed"), json!(id.to_string())), "{}", task.task);
    }
    for (_, task) in &cancelled {
        assert_eq!(task.status(), "cancelled", "{}", task.task);
    }
    let diary = std::fs::read_to_string(replicas.diary()).unwrap();
    let of = |word: &str| diary.lines().filter_map(|line| line.strip_prefix(word)?.parse().ok()).collect::<Vec<u64>>();
    let (started, mut ended) = (of("start "), of("end "));
    ended.sort_unstable();
    assert_eq!(ended, kept.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    assert_eq!(started.len(), kept.len() + cancelled.len());

    // The task of a replica that dies has failed, and says why.
    let (_, lost) = start(1, 600_000).remove(0);
    let nth = NAMES.iter().position(|name| *name == lost.replica()).unwrap();
    replicas.kill(nth);
    replicas.processes[nth] = replicas.serve(nth);
    let failed = lost.about("tasks/get");
    assert_eq!(failed["status"], "failed");
    assert_eq!(failed["statusMessage"], "the server was restarted while the task ran", "{failed}");
    test_support::ran(kept.len() + cancelled.len());
}

#[test]
#[ignore = "needs haproxy"]
fn tasks_behind_haproxy_reach_their_replica_also_while_it_restarts() {
    let revisions = [
        TaskRevision::V20251125,
        TaskRevision::V20260728 { with_name: true },
        TaskRevision::V20260728 { with_name: false },
    ];
    for revision in revisions {
        let replicas = Replicas::start_with(Protocol::Mcp, "", "haproxy-tasks", Replicas::serve);
        let front = free();
        let _haproxy = haproxy(&replicas.configuration("haproxy.cfg", front));
        tasks(replicas, front, revision, true, |replicas, nth| {
            replicas.restart_with(nth, Replicas::serve);
            // Two checks until it is back.
            std::thread::sleep(Duration::from_millis(1200));
        });
    }
}

#[test]
#[ignore = "needs nginx"]
fn tasks_behind_nginx_reach_their_replica_by_the_header_with_their_id() {
    let replicas = Replicas::start_with(Protocol::Mcp, "", "nginx-tasks", Replicas::serve);
    let front = free();
    let (configuration, _nginx) = nginx(&replicas, front);
    let revision = TaskRevision::V20260728 { with_name: true };
    tasks(replicas, front, revision, false, |replicas, nth| {
        roll_nginx(replicas, nth, &configuration, Replicas::serve);
    });
}
