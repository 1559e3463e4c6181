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

use super::TOOLS;

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
    let mut command = Command::new(&*TOOLS);
    command.arg("chain").args(words).args(["--durable", place]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

async fn a_full_stderr_does_not_stop_a_worker(place: &str) {
    let mut worker = Command::new(&*TOOLS);
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
    let mut worker =
        tokio::process::Command::new(&*TOOLS).args(["serve", "--durable", place]).kill_on_drop(true).spawn().unwrap();
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
    assert!(lines[0].starts_with("finished, version 3-"), "{out}");
    assert_eq!(lines[1..], ["0 math:add: succeeded", "1 math:add: succeeded"]);
    let (out, _, _) = tools(place, &["wait", "order-1", "--json"], "");
    let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(outcome["steps"][1]["args"], json!({ "a": 10, "b": 3 }));
    for _ in 0..2 {
        assert_eq!(tools(place, &["start", "-", "--id", "report-1"], chain).0, "report-1\n");
    }
    assert_eq!(tools(place, &["wait", "report-1"], "").0, "13\n");
    let (_, errors, exit) = tools(place, &["start", "-", "--id", "order-1"], r#"[{"toolId": "math:add"}]"#);
    assert!(errors.contains("the run `order-1` exists with another chain") && exit == Some(1), "{errors}");
    let (_, errors, exit) = tools(place, &["decide", "order-1", "0", "retry"], "");
    let expected = "error: step 0 of the run `order-1` waits for no decision: the run is finished";
    assert_eq!((errors.trim(), exit), (expected, Some(1)));
    for (command, expected) in [
        ("retry", "cannot be retried: expected a failed run"),
        ("resume", "cannot be resumed: expected a cancelled or parked run"),
        ("cancel", "cannot be cancelled: expected a run that has not ended"),
    ] {
        let (_, errors, exit) = tools(place, &[command, "order-1"], "");
        assert_eq!((errors.trim(), exit), (&*format!("error: the run `order-1` is finished and {expected}"), Some(1)));
    }
    let (_, errors, exit) = tools(place, &["resume", "order-1", "--version", "3-0"], "");
    let (before, after) =
        ("--version: the tools of this program have the version 3-", ": write it, or use the program");
    assert!(errors.contains(before) && errors.contains(after) && exit == Some(2), "{errors}");
    let own = lines[0].rsplit_once(' ').unwrap().1;
    let (_, errors, exit) = tools(place, &["resume", "order-1", "--version", own], "");
    assert!(errors.contains("is finished and cannot be bound to other tools") && exit == Some(1), "{errors}");
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

/// Returns the metrics of a server at an address.
fn metrics(address: &str) -> String {
    use std::io::Read;

    let mut stream = std::net::TcpStream::connect(address).unwrap();
    write!(stream, "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).unwrap();
    metrics
}

/// The metrics of a worker that has no runs, alone and beside a server.
const METRICS: [&str; 5] = [
    "toolkit_durable_worker_runs 0",
    "toolkit_durable_database_up 1",
    "toolkit_durable_workers 1",
    "toolkit_durable_runs{state=\"queued\"} 0",
    "toolkit_durable_lease_age_seconds 0.",
];

async fn a_command_whose_run_has_no_worker_says_so_and_a_worker_has_a_health_address(place: &str) {
    use std::io::{BufRead, BufReader};

    let program = &*TOOLS;
    let mut worker = Command::new(program)
        .args(["serve", "--durable", place, "--max-runs", "2", "--health", "0"])
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
    let metrics = metrics(&address);
    for line in [&["toolkit_calls_total{tool=\"math:add:1.0.0\",outcome=\"ok\"} 1"], &METRICS[..]].concat() {
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

async fn a_command_names_what_its_run_waits_for_and_the_command_that_decides(place: &str) {
    use std::io::{BufRead, BufReader};

    let program = &*TOOLS;
    let mut worker = Command::new(program);
    let _worker = Worker(worker.args(["serve", "--durable", place]).env("FIXTURE_APPROVES", "1").spawn().unwrap());
    is_served(&Connect::new(place).unwrap()).await;
    let mut caller = Command::new(program);
    caller.args(["chain", "run", "-", "--id", "order-1", "--durable", place]);
    caller.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut caller = caller.spawn().unwrap();
    let walk =
        br#"[{"toolId": "math:add", "args": {"a": 1}, "sleep": "2s"}, {"toolId": "slow:walk", "args": {"steps": 1}}]"#;
    caller.stdin.take().unwrap().write_all(walk).unwrap();
    let mut lines = BufReader::new(caller.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut next = || lines.next().unwrap();
    assert_eq!(next(), "note: run order-1");
    let timer = next();
    assert!(timer.starts_with("note: step 0 (math:add) waits: until 2"), "{timer}");
    assert_eq!(next(), "note: step 1 (slow:walk) waits: Run `slow:walk:1.0.0` with these arguments?");
    assert_eq!((next().trim(), next().trim()), ("", "steps: 1"));
    let decide = next();
    let (_, decide) = decide.split_once("decide with `").unwrap();
    let (decide, decisions) = decide.split_once("`, where DECISION is ").unwrap();
    assert_eq!(decisions, "approve, deny or answer=JSON");
    let (status, _, _) = tools(place, &["status", "order-1"], "");
    assert!(status.ends_with("\n    steps: 1; decide approve, deny or answer=JSON\n"), "{status}");

    let (_, errors, exit) = tools(place, &["decide", "order-1", "1", "answer={}"], "");
    assert!(errors.contains("does not accept this value of `answer=JSON`: ") && exit == Some(1), "{errors}");
    let mut words = decide.split(' ').map(|word| match word {
        "DECISION" => "approve",
        "URL" => place,
        word => word,
    });
    assert_eq!(words.next(), Some("fixture_tools"));
    assert!(Command::new(program).args(words).status().unwrap().success());
    assert!(lines.next().is_none());
    let output = caller.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "\"arrived\"\n");
}

async fn ended_runs_are_listed_and_pruned_after_a_confirmation(place: &str) {
    let mut worker =
        tokio::process::Command::new(&*TOOLS).args(["serve", "--durable", place]).kill_on_drop(true).spawn().unwrap();
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
    assert_eq!((out.as_str(), errors.trim()), ("", "note: no run of the application `fixture_tools` is that old"));
    for words in [&["prune", "--older-than", "1ms"][..], &["prune", "--older-than", "1ms", "--dry-run"]] {
        let (out, errors, exit) = tools(place, words, "");
        assert_eq!((ids(&out), exit), (vec!["order-2".to_owned(), "order-1".to_owned()], Some(0)), "{errors}");
        assert!(errors.contains("nothing was deleted"), "{errors}");
    }
    let (_, errors, _) = tools(place, &["prune", "--older-than", "1ms", "--state", "cancelled", "--yes"], "");
    assert_eq!(errors.trim(), "note: no run of the application `fixture_tools` is that old");
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
    a_command_names_what_its_run_waits_for_and_the_command_that_decides,
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

/// Returns a block of a language in the chapters.
fn block(language: &str, nth: usize) -> &'static str {
    let chapter =
        concat!(include_str!("../../../../docs/durable.md"), include_str!("../../../../docs/durable-operate.md"));
    let block = chapter.split(&*format!("\n```{language}\n")).nth(nth + 1).unwrap();
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

/// A shell in a folder that contains `order.json`, with the fixture as `my-tools`.
struct Shell(Folder);

impl Shell {
    fn new(order: &str) -> Self {
        let folder = Folder::new();
        std::fs::write(folder.0.join("order.json"), order).unwrap();
        let programs = folder.0.join("bin");
        std::fs::create_dir(&programs).unwrap();
        std::os::unix::fs::symlink(&*TOOLS, programs.join("my-tools")).unwrap();
        Self(folder)
    }

    fn command(&self, line: &str) -> Command {
        let Self(folder) = self;
        let path = format!("{}:{}", folder.0.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new("sh");
        command.args(["-c", &format!("exec {line}")]).current_dir(&folder.0).env("PATH", path);
        command.env("XDG_STATE_HOME", folder.0.join("state"));
        command
    }

    /// Runs a command that must succeed.
    fn run(&self, line: &str) -> String {
        let output = self.command(line).output().unwrap();
        assert!(output.status.success(), "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Starts a worker, and waits until it serves.
    async fn serve(&self, line: &str, connect: &Connect, approves: bool) -> Worker {
        let mut worker = self.command(line);
        if approves {
            worker.env("FIXTURE_APPROVES", "1");
        }
        let worker = Worker(worker.spawn().unwrap());
        is_served(connect).await;
        worker
    }

    /// Returns the default place of runs.
    fn default_place(&self) -> Connect {
        Connect::file(self.0.0.join("state/fixture_tools/runs.db"))
    }
}

/// A worker, a command that starts a run, and one that shows its status.
async fn first_commands(shell: &Shell, lines: &str, connect: &Connect) {
    let lines: Vec<&str> = lines.lines().collect();
    let [serve, run, status] = lines[..] else { panic!("{lines:?}") };
    let _worker = shell.serve(serve, connect, false).await;
    assert_eq!(shell.run(run), "13\n");
    let status = shell.run(status);
    assert!(status.starts_with("finished, version 3-"), "{status}");
}

#[tokio::test]
async fn the_commands_of_the_chapter_run_as_they_are_written() {
    let shell = Shell::new(block("json", 0));
    first_commands(&shell, block("sh", 0), &shell.default_place()).await;

    let worker = shell.serve("my-tools serve --durable", &shell.default_place(), false).await;
    let started = shell.run(block("sh", 2));
    assert_eq!(started, shell.run(block("sh", 2)), "the same day");
    assert_eq!(shell.run(&format!("my-tools chain wait {started}")), "13\n");
    let version = shell.run("my-tools chain status order-42");
    let version = version.lines().next().unwrap().rsplit_once(' ').unwrap().1;
    let resume = block("sh", 4).replace("VERSION ", version);
    let refused = shell.command(&resume).output().unwrap();
    let refused = String::from_utf8(refused.stderr).unwrap();
    assert!(refused.contains("the run `order-42` is finished and cannot be bound to other tools"), "{refused}");
    drop(worker);

    // A chain whose second step waits for a decision.
    let chain = r#"[{"toolId": "math:add", "args": {"a": 1}}, {"toolId": "slow:walk", "args": {"steps": 1}}]"#;
    let shell = Shell::new(chain);
    let _worker = shell.serve("my-tools serve --durable", &shell.default_place(), true).await;
    let _caller = Worker(shell.command("my-tools chain run order.json --durable --id order-42").spawn().unwrap());
    soon(async {
        while !shell.run("my-tools chain list").contains("waiting") {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    })
    .await;
    let lines: Vec<&str> = block("sh", 3).lines().collect();
    let run = |line: &&str| {
        let output = shell.command(line).output().unwrap();
        // The state of the run decides which commands it allows.
        let changes = line.contains(" cancel ") || line.contains(" retry ");
        let is_refused = changes && String::from_utf8_lossy(&output.stderr).contains(" and cannot be ");
        assert!(output.status.success() || is_refused, "{line}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let outputs: Vec<String> = lines.iter().map(run).collect();
    assert_eq!((&*outputs[0], &*outputs[1], lines.len()), ("\"arrived\"\n", "", 7));
}

#[tokio::test]
#[ignore = "needs sqlite3"]
async fn the_backup_of_the_chapter_can_be_read_by_its_owner_only_and_has_the_runs() {
    use std::os::unix::fs::PermissionsExt;

    let shell = Shell::new(block("json", 0));
    let connect = Connect::file(shell.0.0.join("runs.db"));
    let _worker = shell.serve("my-tools serve --durable runs.db", &connect, false).await;
    shell.run("my-tools chain run order.json --durable runs.db --id order-42");
    let chapter = include_str!("../../../../docs/durable-operate.md");
    let backup = chapter.split("`(umask ").nth(1).and_then(|rest| rest.split(")`").next()).unwrap();
    shell.run(&format!("sh -c \"umask {backup}\""));
    let mode = std::fs::metadata(shell.0.0.join("copy.db")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(shell.run("my-tools chain wait order-42 --durable copy.db"), "13\n");
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn the_commands_of_the_chapter_run_on_postgres() {
    let (shell, server) = (Shell::new(block("json", 0)), Server::start());
    let lines = block("sh", 1).replace("postgres://db/orders", &server.url());
    first_commands(&shell, &lines, &Connect::new(&server.url()).unwrap()).await;
}

#[tokio::test]
async fn a_server_over_http_runs_durable_steps_beside_its_calls() {
    use std::io::{BufRead, BufReader};

    let folder = Folder::new();
    let file = folder.0.join("runs.db");
    let place = file.to_str().unwrap();
    let mut worker = Command::new(&*TOOLS);
    worker.args(["serve", "--http", "0", "--read-only", "--durable", place]).stderr(Stdio::piped());
    let mut worker = Worker(worker.spawn().unwrap());
    let mut lines = BufReader::new(worker.0.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.by_ref().find(|line| line.contains("serving at")).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    std::thread::spawn(move || lines.for_each(drop));
    is_served(&Connect::file(&file)).await;
    let (out, errors, _) = tools(place, &["run", "-"], r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#);
    assert_eq!(out.trim(), "3", "{errors}");
    let metrics = metrics(&address);
    for line in [&["toolkit_mcp_calls_running 0"], &METRICS[..]].concat() {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
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
        let mut command = Command::new(&*TOOLS);
        let output = command.arg("serve").args(http).arg("--durable").arg(&file).output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{errors}");
        assert!(errors.contains("is damaged, or not a SQLite database"), "{errors}");
    }
}

#[test]
fn a_word_that_is_no_place_for_runs_names_what_is_accepted() {
    let words = ["chain", "list", "--durable", "order-42"];
    let output = Command::new(&*TOOLS).args(words).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(errors.contains("--durable: not a place for runs: expected a file that ends in .db"), "{errors}");
    assert_eq!(output.status.code(), Some(2));
}
