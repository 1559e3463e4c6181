//! The command line: workers, their tools, and their front.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use serde_json::json;
use toolkit_mcp_client::{Endpoint, McpBackend, Program};

use super::*;

/// Runs a program of tools and returns its output.
fn run(server: &Server, command: &[&str], rest: &[&str]) -> (String, String, Option<i32>) {
    let output = Command::new(&*TOOLS).args(command).args(["--nats", &server.url()]).args(rest).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_tools_of_workers_are_listed_shown_searched_and_called() {
    let server = Server::start();
    let mut worker = worker(&server);
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;

    let (listed, _, _) = run(&server, &["list"], &[]);
    let ids: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    assert_eq!(ids, ["diary:count_up", "diary:record", "diary:repeatable", "diary:trace"]);
    let (shown, _, _) = run(&server, &["show"], &["diary:record"]);
    assert!(shown.contains("Writes the id of the call"), "{shown}");
    let (found, _, _) = run(&server, &["search"], &["count"]);
    assert!(found.contains("diary:count_up"), "{found}");
    let (called, errors, exit) = run(&server, &["call"], &["diary:record", "--id", "7", "--ms", "0"]);
    assert_eq!((called.trim(), exit), ("7", Some(0)), "{errors}");
    // The flags are those of the tool, whose schema checks their values.
    let (_, errors, exit) = run(&server, &["call"], &["diary:record", "--id", "seven", "--ms", "0"]);
    assert!(exit == Some(1) && errors.contains("/id must be an integer, got \"seven\""), "{errors}");

    let pid = worker.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    until(async || worker.0.try_wait().unwrap().is_some_and(|status| status.success())).await;
    let (_, errors, exit) = run(&server, &["call"], &["diary:record", "--id", "7", "--ms", "0"]);
    assert_eq!(exit, Some(2), "{errors}");
    drop(server);
    let gone = Server::start();
    let url = gone.url();
    drop(gone);
    let output = Command::new(&*TOOLS).args(["list", "--nats", &url]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(errors.contains("the workers of `nats` cannot be reached"), "{errors}");
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_program_serves_its_tools_as_a_worker() {
    let server = Server::start();
    let mut serving = tokio::process::Command::new(&*TOOLS)
        .args(["serve", "--nats", &server.url()])
        .kill_on_drop(true)
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let backend = NatsBackend::new("fleet", connect(&server));
    let dispatcher = dispatcher(&backend).await;
    let sum = call(&dispatcher, "math:add", json!({ "a": 1, "b": 2 })).await.unwrap();
    assert_eq!(sum, 3);
    let pid = serving.id().unwrap().to_string();
    assert!(Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    assert!(soon(serving.wait()).await.unwrap().success());
}

/// Returns the words of the commands in the guide for operators, for this server and these tools.
fn documented(server: &Server, port: u16) -> Vec<Vec<String>> {
    let guide = include_str!("../../../../../docs/workers.md");
    let commands = guide.lines().filter_map(|line| line.strip_prefix("my-tools "));
    let command = |line: &str| {
        let line = line.split('#').next().unwrap().replace("nats://localhost", &server.url());
        let line = line.replace("images:resize --path a.png --width 80", "diary:record --id 1 --ms 0");
        line.replace("--http 8000", &format!("--http {port}")).split_whitespace().map(str::to_owned).collect()
    };
    commands.map(command).collect()
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn the_commands_of_the_guide_run_tools_in_the_worker_only() {
    let (server, port) = (Server::start(), free_port());
    let commands = documented(&server, port);
    let commands: Vec<Vec<&str>> = commands.iter().map(|words| words.iter().map(String::as_str).collect()).collect();
    let [serve, list, call_once, serve_front] = &*commands else { panic!("{commands:?}") };
    assert!(serve.contains(&"--nats") && serve_front.contains(&"--nats-tools"), "{commands:?}");

    // Without workers the front, which is the same program, has no tools.
    let _front = started(&server, serve_front);
    let client = McpBackend::http("front", Endpoint::new(&format!("http://127.0.0.1:{port}/mcp")).unwrap());
    let tools = async || {
        let listed = toolkit::backend::Backend::tools(&client).await.ok()?;
        Some(listed.tools.iter().map(|(tool, _)| tool.id().name().to_owned()).collect::<Vec<_>>())
    };
    test_support::until_it_listens(("127.0.0.1", port));
    assert_eq!(tools().await.unwrap(), Vec::<String>::new());

    let worker = started(&server, serve);
    let fleet = NatsBackend::new("fleet", connect(&server));
    until(async || fleet.members().await.is_ok_and(|members| members.len() == 1)).await;
    until(async || tools().await.is_some_and(|names| names.contains(&"diary_record".to_owned()))).await;
    assert_eq!(run_words(list).1, Some(0));
    assert_eq!(run_words(call_once), ("1\n".to_owned(), Some(0)));
    let backends = Backends::new();
    backends.register(client.clone()).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    for id in 2..=6 {
        assert_eq!(call(&dispatcher, "front:diary_record", json!({ "id": id, "ms": 0 })).await.unwrap(), id);
    }
    assert_eq!(runners(&server), vec![worker.0.id(); 6]);

    drop(worker);
    let error = call(&dispatcher, "front:diary_record", json!({ "id": 7, "ms": 0 })).await.unwrap_err();
    assert_eq!(runners(&server).len(), 6, "{error}");
}

/// Runs a command of the program, and returns its output and exit code.
fn run_words(words: &[&str]) -> (String, Option<i32>) {
    let output = Command::new(&*FLEET).args(words).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn a_full_stderr_stops_neither_a_worker_nor_its_front() {
    use test_support::full::Full;

    let server = Server::start();
    let serve = |arguments: &[&str]| {
        let mut command = Command::new(&*TOOLS);
        // Tools print to stderr.
        command.arg("serve").args(arguments).env("FIXTURE_TELLS", "1").stdin(Stdio::piped()).stdout(Stdio::piped());
        Full::start(command)
    };
    let worker = serve(&["--nats", &server.url()]);
    let backend = NatsBackend::new("fleet", connect(&server));
    let dispatcher = dispatcher(&backend).await;
    let walked = async || call(&dispatcher, "slow:walk", json!({ "steps": 1 })).await.unwrap();
    assert_eq!(walked().await, "arrived");
    call(&dispatcher, "bad:panics", json!({})).await.unwrap_err();

    let mut front = serve(&["--nats-tools", &server.url()]);
    let request =
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow_walk","arguments":{"steps":1}}}"#;
    let mut to = front.child.stdin.take().unwrap();
    writeln!(to, "{request}").unwrap();
    let mut response = String::new();
    BufReader::new(front.child.stdout.take().unwrap()).read_line(&mut response).unwrap();
    assert!(response.contains("arrived"), "{response:?}");
    assert!(front.terminate().success());
    assert_eq!(walked().await, "arrived");
    assert!(worker.terminate().success());
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn an_mcp_server_in_front_follows_the_workers() {
    let server = Server::start();
    let front = Program::new(&*TOOLS).args(["serve", "--nats-tools", &server.url()]);
    let front = McpBackend::stdio("front", front);
    let listed = async || soon(toolkit::backend::Backend::tools(&front)).await.unwrap().tools;
    assert!(listed().await.is_empty());
    let _worker = worker(&server);
    until(async || listed().await.iter().any(|(tool, _)| tool.id().name() == "diary_record")).await;
    // The tools of the front's program are not those of the workers.
    assert!(listed().await.iter().all(|(tool, _)| tool.id().name().starts_with("diary_")));
    let backends = Backends::new();
    backends.register(front.clone()).unwrap();
    let collected = soon(backends.collect(Catalog::new([]).unwrap())).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    assert_eq!(call(&dispatcher, "front:diary_record", json!({ "id": 9, "ms": 10 })).await.unwrap(), 9);
}

#[tokio::test]
#[ignore = "needs nats-server"]
async fn options_claim_calls_and_choose_namespaces() {
    let server = Server::start();
    let _serving = Killed(
        Command::new(&*TOOLS)
            .args(["serve", "--nats", &server.url(), "--nats-create-buckets", "--nats-inbox", "_INBOX.worker"])
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap(),
    );
    let backend = NatsBackend::new("fleet", connect(&server));
    until(async || backend.members().await.is_ok_and(|members| members.len() == 1)).await;
    let (listed, errors, _) = run(&server, &["list"], &["--nats-only", "math"]);
    let ids: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
    assert!(!ids.is_empty() && ids.iter().all(|id| id.starts_with("math:")), "{ids:?} {errors}");

    let jetstream = async_nats::jetstream::new(async_nats::connect(server.url()).await.unwrap());
    jetstream.get_stream("OBJ_tk-bodies").await.unwrap();
    let n_claims = async || jetstream.get_stream("KV_tk-calls").await.unwrap().cached_info().state.last_sequence;
    assert_eq!(n_claims().await, 0);
    let options =
        ["--nats-claim", "--nats-send-credentials", "--nats-inbox", "_INBOX.me", "--nats-bodies", "tk-bodies-me"];
    let rest: Vec<&str> = options.into_iter().chain(["math:add", "--a", "1", "--b", "2"]).collect();
    let (called, errors, _) = run(&server, &["call"], &rest);
    assert_eq!(called.trim(), "3", "{errors}");
    // The claim, and the answer.
    assert_eq!(n_claims().await, 2);
}

/// Returns the processes in which calls have started.
fn runners(server: &Server) -> Vec<u32> {
    let diary = std::fs::read_to_string(diary(server)).unwrap_or_default();
    let starts = diary.lines().filter(|line| line.starts_with("start "));
    starts.map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect()
}
