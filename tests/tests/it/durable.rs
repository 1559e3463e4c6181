//! The command line on a real Postgres server: a worker, and the commands about durable runs. `tests/durable/run` installs
//! the server and runs these tests.

use std::io::Write;
use std::process::{Command, Stdio};
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
fn tools(server: &Server, words: &[&str], stdin: &str) -> (String, String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    command.arg("chain").args(words).args(["--durable", &server.url()]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(stdin.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_full_stderr_does_not_stop_a_worker() {
    let server = Server::start();
    let mut worker = Command::new(env!("CARGO_BIN_EXE_fixture_tools"));
    // Tools print to stderr.
    worker.args(["serve", "--durable", &server.url()]).env("FIXTURE_TELLS", "1");
    let worker = test_support::full::Full::start(worker);
    let connect = Connect::new(&server.url()).unwrap();
    is_served(&connect).await;
    let chain = r#"[{"toolId": "slow:walk", "args": {"steps": 1}}]"#;
    let (out, errors, _) = tools(&server, &["run", "-"], chain);
    assert_eq!(out.trim(), r#""arrived""#, "{errors}");
    assert!(worker.terminate().success());
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_program_runs_durable_chains() {
    let server = Server::start();
    let mut worker = tokio::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"))
        .args(["serve", "--durable", &server.url()])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let connect = Connect::new(&server.url()).unwrap();
    is_served(&connect).await;

    let chain = r#"[
        {"toolId": "math:add", "id": "sum", "args": {"a": 1, "b": 2}},
        {"toolId": "math:add", "args": {"a": 10}, "from": {"b": {"step": "sum"}}}
    ]"#;
    let (out, errors, exit) = tools(&server, &["run", "-", "--id", "order-1"], chain);
    assert_eq!((out.trim(), errors.trim(), exit), ("13", "note: run order-1", Some(0)));
    let (out, _, _) = tools(&server, &["status", "order-1"], "");
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].starts_with("finished, version 1-"), "{out}");
    assert_eq!(lines[1..], ["0 math:add: succeeded", "1 math:add: succeeded"]);
    let (out, _, _) = tools(&server, &["wait", "order-1", "--json"], "");
    let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(outcome["steps"][1]["args"], json!({ "a": 10, "b": 3 }));
    let (_, errors, exit) = tools(&server, &["decide", "order-1", "0", "retry"], "");
    assert_eq!((errors.trim(), exit), ("error: step 0 of the run `order-1` waits for no decision", Some(2)));
    let (_, errors, exit) = tools(&server, &["decide", "order-1", "0", "perhaps"], "");
    assert!(errors.contains("`perhaps` is not a decision: expected approve, deny") && exit == Some(2), "{errors}");
    let (_, errors, exit) = tools(&server, &["status", "order-2"], "");
    assert_eq!((errors.trim(), exit), ("error: there is no run `order-2`", Some(2)));
    let (_, errors, exit) = tools(&server, &["run", "-", "--id", "order 3"], chain);
    assert!(errors.contains("`order 3` is not the id of a run") && exit == Some(2), "{errors}");

    let pid = worker.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(soon(worker.wait()).await.unwrap().success());
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn a_command_whose_run_has_no_worker_says_so_and_a_worker_has_a_health_address() {
    use std::io::{BufRead, BufReader, Read};
    use std::net::TcpStream;

    let server = Server::start();
    let program = env!("CARGO_BIN_EXE_fixture_tools");
    let mut worker = Command::new(program)
        .args(["serve", "--durable", &server.url(), "--health", "0"])
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(worker.stderr.take().unwrap()).lines().map_while(Result::ok);
    let line = lines.by_ref().find(|line| line.contains("/healthz")).unwrap();
    let address = line.split_once("http://").unwrap().1.split_once('/').unwrap().0.to_owned();
    std::thread::spawn(move || lines.for_each(drop));
    is_served(&Connect::new(&server.url()).unwrap()).await;
    let chain = r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#;
    assert_eq!(tools(&server, &["run", "-"], chain).0.trim(), "3");
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
    let (_, errors, _) = tools(&server, &["run", "-", "--application", "other-app", "--timeout", "10s"], chain);
    assert!(errors.contains("start one of the application `other-app` with `serve --durable`"), "{errors}");
    let (out, errors, exit) = tools(&server, &["list", "--state", "no_worker"], "");
    let columns: Vec<&str> = out.trim().split('\t').collect();
    assert_eq!((columns.len(), columns[1], columns[2], exit), (7, "no_worker", "other-app", Some(0)), "{out}{errors}");
    assert!(columns[6].contains("a worker of the application `other-app`"), "{out}");
    worker.kill().unwrap();
    worker.wait().unwrap();
}

#[tokio::test]
#[ignore = "needs a Postgres server"]
async fn ended_runs_are_listed_and_pruned_after_a_confirmation() {
    let server = Server::start();
    let mut worker = tokio::process::Command::new(env!("CARGO_BIN_EXE_fixture_tools"))
        .args(["serve", "--durable", &server.url()])
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    is_served(&Connect::new(&server.url()).unwrap()).await;
    let chain = r#"[{"toolId": "math:add", "args": {"a": 1, "b": 2}}]"#;
    for id in ["order-1", "order-2"] {
        assert_eq!(tools(&server, &["run", "-", "--id", id], chain).0.trim(), "3");
    }
    let ids = |out: &str| out.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>();
    for state in toolkit_durable::RunState::ALL {
        let (out, errors, exit) = tools(&server, &["list", "--state", state.name()], "");
        assert_eq!((ids(&out).len(), exit), (if state.name() == "finished" { 2 } else { 0 }, Some(0)), "{out}{errors}");
    }
    let (out, _, _) = tools(&server, &["list", "--limit", "1", "--json"], "");
    let listed: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!((&listed[0]["id"], &listed[0]["state"]), (&json!("order-2"), &json!("finished")));
    let (out, errors, _) = tools(&server, &["prune", "--older-than", "30d", "--yes"], "");
    assert_eq!((out.as_str(), errors.trim()), ("", "note: no run of the application `toolkit` is that old"));
    for words in [&["prune", "--older-than", "1ms"][..], &["prune", "--older-than", "1ms", "--dry-run"]] {
        let (out, errors, exit) = tools(&server, words, "");
        assert_eq!((ids(&out), exit), (vec!["order-2".to_owned(), "order-1".to_owned()], Some(0)), "{errors}");
        assert!(errors.contains("nothing was deleted"), "{errors}");
    }
    let (_, errors, _) = tools(&server, &["prune", "--older-than", "1ms", "--state", "cancelled", "--yes"], "");
    assert_eq!(errors.trim(), "note: no run of the application `toolkit` is that old");
    let (_, errors, exit) = tools(&server, &["prune", "--older-than", "1ms", "--yes"], "");
    assert_eq!((errors.trim(), exit), ("note: deleted 2 runs", Some(0)));
    assert_eq!(tools(&server, &["list"], "").0, "");
    worker.kill().await.unwrap();
}
