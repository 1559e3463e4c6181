//! Tasks that outlive their server.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::tools::server_with;
use super::*;
use toolkit_mcp_server::TaskDirectory;

/// A directory that is removed at the end of a test.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("tasks-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        Self(path)
    }

    /// Returns the names of the stored tasks.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name != ".lock").collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

/// A server over stdio that stores its tasks.
struct Process {
    child: Child,
    n_requests: u64,
}

impl Process {
    fn start(directory: &Directory) -> Self {
        let mut command = Command::new(test_support::program("fixture_mcp"));
        command.env("TASK_DIR", &directory.0);
        let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        Self { child, n_requests: 0 }
    }

    fn request(&mut self, method: &str, mut params: Value) -> Value {
        self.n_requests += 1;
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": tasks(),
        });
        let request = json!({ "jsonrpc": "2.0", "id": self.n_requests, "method": method, "params": params });
        writeln!(self.child.stdin.as_mut().unwrap(), "{request}").unwrap();
        let mut line = String::new();
        BufReader::new(self.child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
    }

    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

#[test]
fn a_task_whose_server_was_killed_has_its_result_or_has_failed() {
    let directory = Directory::new("killed");
    let (mut n_completed, mut n_failed) = (0, 0);
    for round in 0..20 {
        let mut server = Process::start(&directory);
        let arguments = json!({ "seconds": 0.3, "label": format!("round {round}") });
        let task = server.request("tools/call", json!({ "name": "slow_compute", "arguments": arguments }));
        // On a slow disk, the call ends before its task is stored.
        if task["resultType"] != "task" {
            continue;
        }
        let id = json!({ "taskId": task["taskId"] });
        // From the creation of the task to some time after its end.
        let until = Instant::now() + Duration::from_millis(round * 25);
        let mut seen = server.request("tasks/get", id.clone());
        while Instant::now() < until {
            std::thread::sleep(Duration::from_millis(2));
            seen = server.request("tasks/get", id.clone());
        }
        server.kill();
        let mut server = Process::start(&directory);
        let after = server.request("tasks/get", id);
        match after["status"].as_str() {
            Some("completed") => {
                assert_eq!(text(&after["result"]), format!("round {round} after 0.3 s"));
                n_completed += 1;
            }
            Some("failed") => {
                assert_eq!(after["error"]["message"], "the server was restarted while the task ran");
                assert_eq!(seen["status"], "working", "a result that a client has seen is not lost");
                n_failed += 1;
            }
            other => panic!("{other:?}: {after}"),
        }
    }
    assert!(n_completed > 0 && n_failed > 0, "{n_completed} completed, {n_failed} failed");
}

#[test]
fn a_question_of_a_task_ends_with_its_server() {
    let directory = Directory::new("asking");
    let mut server = Process::start(&directory);
    let call = json!({ "name": "confirm_delete", "arguments": { "filename": "a.txt" } });
    let task = server.request("tools/call", call);
    let id = json!({ "taskId": task["taskId"] });
    while server.request("tasks/get", id.clone())["status"] != "input_required" {}
    server.kill();
    let after = Process::start(&directory).request("tasks/get", id);
    assert_eq!(after["status"], "failed");
    assert_eq!(after["inputRequests"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn expired_tasks_leave_no_files() {
    let directory = Directory::new("expired");
    let store = TaskDirectory::open(&directory.0).unwrap();
    let (server, stage) = server_with(|builder| {
        builder.task_store(store).task_ttl(Duration::from_millis(700)).task_after(Duration::ZERO)
    });
    let mut client = Client::connect(&server, (Era::Modern, Way::Pipes), tasks()).await;
    let mut had_files = false;
    for _ in 0..40 {
        // A call that finds the gate open completes at once, and the one that it was opened for continues to wait.
        send(&mut client, "tools/call", &as_task(Era::Modern, "build", json!({ "name": "a shed" }))).await;
        had_files |= !directory.names().is_empty();
        stage.open();
    }
    assert!(had_files);
    while server.status().n_tasks > 0 || !directory.names().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_that_expired_while_no_server_ran_are_removed() {
    let directory = Directory::new("stopped");
    {
        let mut server = Process::start(&directory);
        // Always a task: a call of another tool may end before its task is stored.
        let call = json!({ "name": "only_as_a_task", "arguments": { "ms": 50 } });
        let task = server.request("tools/call", call);
        loop {
            let state = server.request("tasks/get", json!({ "taskId": task["taskId"] }));
            if state["status"] == "completed" {
                break;
            }
            assert_eq!(state["status"], "working", "{state}");
        }
    }
    let [name] = directory.names().try_into().unwrap();
    let path = directory.0.join(name);
    let mut record: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    record["createdAt"] = "2026-01-01T00:00:00Z".into();
    fs::write(&path, record.to_string()).unwrap();
    let (server, _) = server_with(|builder| builder.task_store(TaskDirectory::open(&directory.0).unwrap()));
    assert_eq!(server.status().n_tasks, 0);
    assert!(directory.names().is_empty());
}

#[test]
fn files_that_are_not_records_stay() {
    let directory = Directory::new("damaged");
    drop(TaskDirectory::open(&directory.0).unwrap());
    let id = "0123456789".repeat(4);
    fs::write(directory.0.join(format!(".{id}.json.x7Rq2b.tmp")), "{").unwrap();
    fs::write(directory.0.join(format!("{id}.json")), "{\"taskId\":").unwrap();
    fs::create_dir(directory.0.join(format!("{}.json", "a".repeat(40)))).unwrap();
    for foreign in ["notes.txt", "package.json", ".draft.json.x7Rq2b.tmp"] {
        fs::write(directory.0.join(foreign), "not a task").unwrap();
    }
    let (server, _) = server_with(|builder| builder.task_store(TaskDirectory::open(&directory.0).unwrap()));
    assert_eq!(server.status().n_tasks, 0);
    let mut names = directory.names();
    names.sort();
    // A record that cannot be read may be that of a later version.
    let records = [format!("{id}.json"), format!("{}.json", "a".repeat(40))];
    assert_eq!(names, [".draft.json.x7Rq2b.tmp", &records[0], &records[1], "notes.txt", "package.json"]);
}

#[test]
fn a_directory_belongs_to_one_server() {
    let directory = Directory::new("locked");
    let first = TaskDirectory::open(&directory.0).unwrap();
    let error = TaskDirectory::open(&directory.0).unwrap_err().to_string();
    assert!(error.contains("another server stores its tasks in"), "{error}");
    drop(first);
    TaskDirectory::open(&directory.0).unwrap();
}

#[cfg(unix)]
#[test]
fn only_the_owner_can_read_the_files() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new("private");
    let mut server = Process::start(&directory);
    server.request("tools/call", json!({ "name": "slow_compute", "arguments": { "seconds": 5 } }));
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&directory.0), 0o700);
    for name in directory.names() {
        assert_eq!(mode(&directory.0.join(name)), 0o600);
    }
}

#[cfg(unix)]
#[test]
fn a_directory_that_others_can_write_is_rejected() {
    use std::os::unix::fs::PermissionsExt;

    let directory = Directory::new("shared");
    fs::create_dir_all(&directory.0).unwrap();
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o770)).unwrap();
    let error = TaskDirectory::open(&directory.0).unwrap_err().to_string();
    assert!(error.contains("other users can write"), "{error}");
    fs::set_permissions(&directory.0, fs::Permissions::from_mode(0o755)).unwrap();
    TaskDirectory::open(&directory.0).unwrap();
}

/// A store that fails from some time on.
#[derive(Default)]
struct Broken(std::sync::atomic::AtomicUsize);

impl toolkit_mcp_server::TaskStore for Broken {
    fn save(&self, _: &str, _: &[u8]) -> std::io::Result<()> {
        self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Err(std::io::Error::other("the disk of /srv/secret is full"))
    }

    fn load(&self, _: &str) -> std::io::Result<Option<Vec<u8>>> {
        Ok(None)
    }

    fn remove(&self, _: &str) -> std::io::Result<()> {
        Ok(())
    }

    fn ids(&self) -> std::io::Result<Vec<String>> {
        Ok(Vec::new())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_whose_task_cannot_be_stored_stays_a_call() {
    let (server, stage) = server_with(|builder| builder.task_store(Broken::default()));
    let mut client = Client::connect(&server, (Era::Modern, Way::Http), tasks()).await;
    let params = as_task(Era::Modern, "build", json!({ "name": "a shed" }));
    stage.open_later();
    let response = send(&mut client, "tools/call", &params).await;
    assert_eq!(text(&response["result"]), "a shed is built");
    assert_eq!(server.status().n_tasks, 0);
    let mut client = Client::connect(&server, (Era::Legacy, Way::Http), tasks()).await;
    let response = send(&mut client, "tools/call", &as_task(Era::Legacy, "build", json!({ "name": "a shed" }))).await;
    assert_eq!(response["error"]["message"], "the task could not be stored; try again later");
}

#[cfg(unix)]
#[test]
fn records_that_the_store_has_not_written_are_ignored() {
    use std::os::unix::fs::PermissionsExt;

    use toolkit_mcp_server::TaskStore;

    let directory = Directory::new("foreign");
    let store = TaskDirectory::open(&directory.0).unwrap();
    let id = "0123456789abcdef0123456789abcdef01234567";
    let file = directory.0.join(format!("{id}.json"));
    store.save(id, b"{}").unwrap();
    assert_eq!(store.load(id).unwrap().as_deref(), Some(&b"{}"[..]));
    // Others can read it, and so could have received it.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(store.load(id).unwrap(), None);
    // It has another name, by which it may change.
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::hard_link(&file, directory.0.join("other")).unwrap();
    assert_eq!(store.load(id).unwrap(), None);
    fs::remove_file(directory.0.join("other")).unwrap();
    // It is larger than a record may be.
    fs::File::options().write(true).open(&file).unwrap().set_len(100 << 20).unwrap();
    assert_eq!(store.load(id).unwrap(), None);
    assert!(store.save(id, &vec![b' '; (64 << 20) + 1]).is_err());
}
