//! The command line of durable runs, on a file and on a real Postgres server: a worker, and the commands about runs.
//! `tests/durable/run` installs the server and runs its tests.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use test_support::postgres::{PATIENCE, Server};
use toolkit_durable::{Client, Connect};

async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.expect("nothing hangs")
}

/// Waits until a worker has created the tables.
async fn is_served(connect: &Connect) {
    soon(async {
        while Client::connect(connect).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// Runs a command of a program of tools, and returns its output, its errors and its exit code.
fn tools(place: &str, words: &[&str], stdin: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    command.arg("chain").args(words).args(["--durable", place]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

async fn a_full_stderr_does_not_stop_a_worker(place: &str) {
    let mut worker = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    // Tools print to stderr.
    worker.args(["serve", "--durable", place]).env("FIXTURE_TELLS", "1");
    let worker = test_support::full::Full::start(worker);
    let connect = Connect::new(place).unwrap();
    is_served(&connect).await;
    let chain = r#"[{"toolId": "slow:walk", "args": {"steps": 1}}]"#;
    let (out, errors, _) = tools(place, &["run", "-"], chain);
    assert_eq!(out.trim(), r#""arrived""#, "{errors}");
    assert!(worker.terminate().success());
}

async fn a_program_runs_durable_chains(place: &str) {
    let mut worker = tokio::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"))
        .args(["serve", "--durable", place])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let connect = Connect::new(place).unwrap();
    is_served(&connect).await;

    let chain = r#"[
        {"toolId": "math:add", "id": "sum", "args": {"a": 1, "b": 2}},
        {"toolId": "math:add", "args": {"a": 10}, "from": {"b": {"step": "sum"}}}
    ]"#;
    let (out, errors, exit) = tools(place, &["run", "-", "--id", "order-1"], chain);
    assert_eq!((out.trim(), errors.trim(), exit), ("13", "note: run order-1", Some(0)));
    let (out, _, _) = tools(place, &["status", "order-1"], "");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("finished, version 1-"), "{out}");
    assert_eq!(lines[1..], ["0 math:add: succeeded", "1 math:add: succeeded"]);
    let (out, _, _) = tools(place, &["wait", "order-1", "--json"], "");
    let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(outcome["steps"][1]["args"], json!({ "a": 10, "b": 3 }));
    let (_, errors, exit) = tools(place, &["decide", "order-1", "0", "retry"], "");
    assert_eq!((errors.trim(), exit), ("error: step 0 of the run `order-1` waits for no decision", Some(2)));
    let (_, errors, exit) = tools(place, &["decide", "order-1", "0", "perhaps"], "");
    assert!(errors.contains("`perhaps` is not a decision: expected approve, deny") && exit == Some(2), "{errors}");
    let (_, errors, exit) = tools(place, &["status", "order-2"], "");
    assert_eq!((errors.trim(), exit), ("error: there is no run `order-2`", Some(2)));
    let (_, errors, exit) = tools(place, &["run", "-", "--id", "order 3"], chain);
    assert!(errors.contains("`order 3` is not the id of a run") && exit == Some(2), "{errors}");

    let pid = worker.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(soon(worker.wait()).await.unwrap().success());
}

async fn a_command_whose_run_has_no_worker_says_so_and_a_worker_has_a_health_address(place: &str) {
    use std::io::{BufRead, BufReader, Read};
    use std::net::TcpStream;

    let program = env!("CARGO_BIN_EXE_fixture_tools");
    let mut worker = Command::new(program)
        .args(["serve", "--durable", place, "--health", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(worker.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.by_ref().find(|line| line.contains("/healthz")).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    std::thread::spawn(move || lines.for_each(drop));
    is_served(&Connect::new(place).unwrap()).await;
    let chain = r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#;
    assert_eq!(tools(place, &["run", "-"], chain).0.trim(), "3");
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    for line in [
        "toolkit_calls_total{tool=\"math:add:1.0.0\",outcome=\"ok\"} 1",
        "toolkit_durable_worker_runs 0",
        "toolkit_durable_database_up 1",
        "toolkit_durable_workers 1",
        "toolkit_durable_runs{state=\"queued\"} 0",
        "toolkit_durable_lease_age_seconds 0.",
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let (_, errors, _) = tools(place, &["run", "-", "--application", "other-app", "--timeout", "10s"], chain);
    assert!(errors.contains("start one of the application `other-app` with `serve --durable`"), "{errors}");
    let (out, errors, exit) = tools(place, &["list", "--state", "no_worker"], "");
    let columns: Vec<&str> = out.trim().split('\t').collect();
    assert_eq!((columns.len(), columns[1], columns[2], exit), (7, "no_worker", "other-app", Some(0)), "{out}{errors}");
    assert!(columns[6].contains("a worker of the application `other-app`"), "{out}");
    worker.kill().unwrap();
    worker.wait().unwrap();
}

async fn ended_runs_are_listed_and_pruned_after_a_confirmation(place: &str) {
    let mut worker = tokio::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"))
        .args(["serve", "--durable", place])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    is_served(&Connect::new(place).unwrap()).await;
    let chain = r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#;
    for id in ["order-1", "order-2"] {
        assert_eq!(tools(place, &["run", "-", "--id", id], chain).0.trim(), "3");
    }
    let ids = |out: &str| out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>();
    for state in toolkit_durable::RunState::ALL {
        let (out, errors, exit) = tools(place, &["list", "--state", state.name()], "");
        assert_eq!((ids(&out).len(), exit), (if state.name() == "finished" { 2 } else { 0 }, Some(0)), "{out}{errors}");
    }
    let (out, _, _) = tools(place, &["list", "--limit", "1", "--json"], "");
    let listed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&json!("order-2"), &json!("finished")));
    let (out, errors, _) = tools(place, &["prune", "--older-than", "30d", "--yes"], "");
    assert_eq!((out.as_str(), errors.trim()), ("", "note: no run of the application `toolkit` is that old"));
    for words in [&["prune", "--older-than", "1ms"][..], &["prune", "--older-than", "1ms", "--dry-run"]] {
        let (out, errors, exit) = tools(place, words, "");
        assert_eq!((ids(&out), exit), (vec!["order-2".to_owned(), "order-1".to_owned()], Some(0)), "{errors}");
        assert!(errors.contains("nothing was deleted"), "{errors}");
    }
    let (_, errors, _) = tools(place, &["prune", "--older-than", "1ms", "--state", "cancelled", "--yes"], "");
    assert_eq!(errors.trim(), "note: no run of the application `toolkit` is that old");
    let (_, errors, exit) = tools(place, &["prune", "--older-than", "1ms", "--yes"], "");
    assert_eq!((errors.trim(), exit), ("note: deleted 2 runs", Some(0)));
    assert_eq!(tools(place, &["list"], "").0, "");
    worker.kill().await.unwrap();
}

/// Declares tests that hold in each place that records runs.
macro_rules! on_each_place {
    ($($test:ident),+ $(,)?) => {
        mod file {
            $(
                #[tokio::test]
                async fn $test() {
                    let folder = super::Folder::new();
                    super::$test(folder.0.join("runs.db").to_str().unwrap()).await;
                }
            )+
        }

        mod postgres {
            $(
                #[tokio::test]
                #[ignore = "needs a Postgres server"]
                async fn $test() {
                    let server = super::Server::start();
                    super::$test(&server.url()).await;
                }
            )+
        }
    };
}

on_each_place! {
    a_full_stderr_does_not_stop_a_worker,
    a_program_runs_durable_chains,
    a_command_whose_run_has_no_worker_says_so_and_a_worker_has_a_health_address,
    ended_runs_are_listed_and_pruned_after_a_confirmation,
}

/// A folder that is removed on drop.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static N_FOLDERS: AtomicU64 = AtomicU64::new(0);
        let nth = N_FOLDERS.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("toolkit-runs-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Returns the first block of a language in the chapter.
fn block(language: &str) -> &'static str {
    let chapter = include_str!("../../../docs/durable.md");
    let (_, block) = chapter.split_once(&format!("```{language}\n")).unwrap();
    block.split_once("```").unwrap().0
}

/// Kills a process on drop.
struct Worker(std::process::Child);

impl Drop for Worker {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[tokio::test]
async fn the_commands_of_the_chapter_run_as_they_are_written() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("order.json"), block("json")).unwrap();
    let programs = folder.0.join("bin");
    std::fs::create_dir(&programs).unwrap();
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_fixture_tools"), programs.join("my-tools")).unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap());
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {line}")]).current_dir(&folder.0).env("PATH", &path);
        command.env("XDG_STATE_HOME", folder.0.join("state"));
        command
    };
    let mut lines = block("sh").lines();
    let _worker = Worker(shell(lines.next().unwrap()).spawn().unwrap());
    let file = folder.0.join("state/fixture_tools/runs.db");
    is_served(&Connect::file(&file)).await;
    let outputs = lines.map(|line| {
        let output = shell(line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    });
    let outputs: Vec<String> = outputs.collect();
    assert_eq!(outputs[0], "13\n");
    assert!(outputs[1].starts_with("finished, version 1-"), "{}", outputs[1]);
    assert_eq!(outputs.len(), 2);
}

#[tokio::test]
async fn a_server_over_http_runs_durable_steps_beside_its_calls() {
    use std::io::{BufRead, BufReader};

    let folder = Folder::new();
    let file = folder.0.join("runs.db");
    let place = file.to_str().unwrap();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    worker.args(["serve", "--http", "0", "--read-only", "--durable", place]).stderr(Stdio::piped());
    let mut worker = Worker(worker.spawn().unwrap());
    let mut lines = BufReader::new(worker.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.by_ref().find(|line| line.contains("serving at")).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    std::thread::spawn(move || lines.for_each(drop));
    is_served(&Connect::file(&file)).await;
    let (out, errors, _) = tools(place, &["run", "-"], r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#);
    assert_eq!(out.trim(), "3", "{errors}");
    assert!(std::net::TcpStream::connect(&address).is_ok());
    let pid = worker.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(worker.0.wait().unwrap().success());
    // The worker has ended too.
    let (out, _, _) = tools(place, &["list", "--state", "no_worker"], "");
    assert_eq!(out, "");
    let sent = tools(place, &["run", "-", "--id", "late", "--timeout", "1s"], r#"[{"toolId": "math:add"}]"#);
    assert_ne!(sent.2, Some(0));
    assert!(tools(place, &["list", "--state", "no_worker"], "").0.starts_with("late\t"));
}

#[test]
fn a_server_beside_a_worker_whose_file_cannot_be_opened_fails_with_the_reason() {
    let folder = Folder::new();
    let file = folder.0.join("runs.db");
    std::fs::write(&file, "not a database".repeat(100)).unwrap();
    for http in [&[][..], &["--http", "0"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
        let output = command.arg("serve").args(http).arg("--durable").arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("is damaged, or not a SQLite database"), "{errors}");
    }
}

#[test]
fn a_word_that_is_no_place_for_runs_names_what_is_accepted() {
    let words = ["chain", "list", "--durable", "order-42"];
    let output = Command::new(env!("CARGO_BIN_EXE_fixture_tools")).args(words).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("--durable: not a place for runs: expected a file that ends in .db"), "{errors}");
    assert_eq!(output.status.code(), Some(2));
}
