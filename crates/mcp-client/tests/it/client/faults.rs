//! Servers that exit, hang, or send malformed messages: no call hangs, and errors contain the cause.

use std::time::{Duration, Instant};

use serde_json::{Value, json};
use test_support::program;
use toolkit::Catalog;
use toolkit::backend::Backend;
use toolkit::call::ErrorKind;
use toolkit_backends::Backends;
use toolkit_mcp_client::{McpBackend, Program};

use super::{call, call_restarted, dispatcher, in_the_end, peer, until};

/// Returns the error of starting the server.
async fn not_started(backend: McpBackend) -> (ErrorKind, String) {
    let error = in_the_end(backend.start()).await.unwrap_err();
    (error.kind(), error.message().to_owned())
}

fn is_there(pid: &Value) -> bool {
    std::path::Path::new(&format!("/proc/{pid}")).exists()
}

#[tokio::test]
async fn a_server_that_exits_during_a_call_is_restarted_by_the_next() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let first = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    let (error, other) =
        tokio::join!(call(&dispatcher, "peer:die", json!({})), call(&dispatcher, "peer:hang", json!({})));
    for error in [error.unwrap_err(), other.unwrap_err()] {
        assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::OutcomeUnknown, false));
        let how =
            "the MCP server `peer` disconnected before it responded: it ended (exit status: 7); the tool may have run";
        assert_eq!(error.message(), how);
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert!(cause.contains("the peer is here"), "{cause}");
    }
    let second = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    assert_ne!(first, second);
}

#[tokio::test]
async fn a_server_that_is_killed_between_two_calls_is_started_again() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    let pid = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    assert!(std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().unwrap().success());
    // The end of its output is noticed.
    in_the_end(backend.changed()).await;
    assert_ne!(call(&dispatcher, "peer:pid", json!({})).await.unwrap(), pid);
    in_the_end(backend.health()).await.unwrap();
    in_the_end(backend.changed()).await;
}

#[tokio::test]
async fn a_line_that_is_too_long_ends_its_call_only() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let pid = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    let error = call(&dispatcher, "peer:long_line", json!({})).await.unwrap_err();
    let how = "the MCP server `peer` responded with more than 16777216 bytes";
    assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidResponse, how));
    assert_eq!(call(&dispatcher, "peer:pid", json!({})).await.unwrap(), pid);
}

#[tokio::test]
async fn a_server_that_sends_endless_requests_is_disconnected() {
    let dispatcher = dispatcher(&peer(&["usual"])).await;
    let error = call(&dispatcher, "peer:pester", json!({})).await.unwrap_err();
    let how = "the MCP server `peer` disconnected before it responded: it sends requests without reading the \
               responses; the tool may have run";
    assert_eq!((error.kind(), error.message()), (ErrorKind::OutcomeUnknown, how));
    assert_eq!(call(&dispatcher, "peer:shout", json!({})).await.unwrap(), "told");
}

#[tokio::test]
async fn each_attempt_starts_a_server_that_exits_at_once_once_and_counts_as_a_restart() {
    let starts = std::env::temp_dir().join(format!("toolkit-starts-{}", std::process::id()));
    let script = format!("echo start >> '{}'; exit 3", starts.display());
    let backend = McpBackend::stdio("gone", Program::new("sh").args(["-c", &script]));
    let n_starts = || std::fs::read_to_string(&starts).unwrap_or_default().lines().count();
    // Some servers exit on the first request of a newer revision, so that the first attempt tries both.
    not_started(backend.clone()).await;
    assert_eq!(n_starts(), 2);
    for n_restarts in 1..=4_u64 {
        let (_, message) = not_started(backend.clone()).await;
        assert!(message.contains("it ended (exit status: 3)"), "{message}");
        assert_eq!((n_starts() as u64, backend.status().n_restarts), (2 + n_restarts, n_restarts));
    }
    std::fs::remove_file(&starts).unwrap();
}

#[tokio::test]
async fn a_server_of_an_earlier_revision_that_exits_on_other_requests_is_there_after_a_failure() {
    let count = std::env::temp_dir().join(format!("toolkit-revision-{}", std::process::id()));
    let peer = program("fixture_peer");
    // Fails four times, and then exits unless the first request is `initialize`.
    let script = format!(
        "echo start >> '{0}'; [ $(wc -l < '{0}') -gt 4 ] || exit 3; read -r line; case \"$line\" in \
         *'\"initialize\"'*) {{ echo \"$line\"; cat; }} | '{1}' usual;; *) exit 4;; esac",
        count.display(),
        peer.display()
    );
    let backend = McpBackend::stdio("old", Program::new("sh").args(["-c", &script]));
    let mut n_failed = 0;
    while in_the_end(backend.start()).await.is_err() {
        n_failed += 1;
        assert!(n_failed < 8);
    }
    assert!(n_failed >= 3, "{n_failed}");
    assert!(!in_the_end(backend.tools()).await.unwrap().tools.is_empty());
    in_the_end(backend.stop()).await.unwrap();
    std::fs::remove_file(&count).unwrap();
}

#[tokio::test]
async fn a_server_that_starts_slowly_is_there_for_a_later_call() {
    let backend = peer(&["slow"]);
    let soon = Duration::from_millis(100);
    assert!(tokio::time::timeout(soon, backend.tools()).await.is_err());
    assert!(!in_the_end(backend.tools()).await.unwrap().tools.is_empty());
}

#[tokio::test]
async fn a_slow_server_is_a_change_once_it_is_connected() {
    let backends = Backends::new().with_request_timeout(Duration::from_millis(200));
    backends.register(peer(&["slow"])).unwrap();
    let collect = async || backends.collect(Catalog::new([]).unwrap()).await;
    assert_eq!(collect().await.failures.len(), 1);
    in_the_end(async {
        while !collect().await.failures.is_empty() {
            backends.changed().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_can_be_stopped_while_it_starts() {
    let backend = peer(&["mute"]).start_timeout(Duration::from_secs(600));
    let listing = tokio::spawn({
        let backend = backend.clone();
        async move { backend.tools().await.unwrap_err() }
    });
    // This waits for the server.
    tokio::time::sleep(Duration::from_millis(100)).await;
    in_the_end(backend.stop()).await.unwrap();
    assert_eq!(in_the_end(listing).await.unwrap().message(), "the MCP server `peer` is stopped");
}

#[tokio::test]
async fn malformed_lines_are_skipped() {
    let dispatcher = dispatcher(&peer(&["chatty"])).await;
    assert!(call(&dispatcher, "peer:pid", json!({})).await.is_ok());
}

#[cfg(unix)]
#[tokio::test]
async fn a_server_that_exits_at_once_fails_at_once() {
    for program in ["false", "true"] {
        let start = Instant::now();
        let error = in_the_end(McpBackend::stdio("dead", Program::new(program)).tools()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
        assert!(error.message().contains("it ended (exit status: "), "{error}");
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_exits_on_an_unknown_request_is_restarted_with_initialize() {
    let dispatcher = dispatcher(&peer(&["strict"])).await;
    assert!(call(&dispatcher, "peer:pid", json!({})).await.is_ok());
}

#[tokio::test]
async fn a_response_to_an_unknown_request_is_skipped() {
    // The server sends one before each response.
    let dispatcher = dispatcher(&peer(&["stray"])).await;
    for _ in 0..3 {
        assert!(call(&dispatcher, "peer:pid", json!({})).await.is_ok());
    }
}

/// A file that lets a peer start and is removed on drop.
struct Gate(std::path::PathBuf);

impl Gate {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("toolkit-gate-{}-{name}", std::process::id())))
    }

    fn peer(&self, name: &str) -> McpBackend {
        let fixture = Program::new(program("fixture_peer"));
        McpBackend::stdio(name, fixture.args(["gate", self.0.to_str().unwrap()]))
    }

    fn open(&self) {
        std::fs::write(self.file(), "").unwrap();
    }

    fn close(&self) {
        std::fs::remove_file(self.file()).unwrap();
    }

    fn file(&self) -> std::path::PathBuf {
        self.0.with_extension("go")
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(self.file());
    }
}

#[tokio::test]
async fn a_slow_server_delays_no_other_and_is_collected_later() {
    let gate = Gate::new("late");
    let backends = Backends::new();
    let quick = McpBackend::stdio("quick", Program::new(program("fixture_peer")));
    in_the_end(quick.start()).await.unwrap();
    for backend in [gate.peer("late"), peer(&["mute"]), quick] {
        backends.register(backend).unwrap();
    }
    let soon = Duration::from_secs(2);
    let collect = async || in_the_end(backends.collect_within(Catalog::new([]).unwrap(), soon)).await;
    let collected = collect().await;
    assert!(collected.catalog.get("late:pid").is_none() && collected.catalog.get("quick:pid").is_some());
    gate.open();
    in_the_end(async {
        while collect().await.catalog.get("late:pid").is_none() {
            backends.changed().await;
        }
    })
    .await;
    let collected = collect().await;
    let waiting: Vec<_> = collected.failures.iter().map(|failure| (&*failure.backend, failure.is_pending)).collect();
    assert_eq!(waiting, [("peer", true)]);
}

#[tokio::test]
async fn tools_of_a_restarting_server_stay_and_report_it() {
    let gate = Gate::new("restarted");
    gate.open();
    let backends = Backends::new();
    backends.register(gate.peer("peer")).unwrap();
    let collect = async || in_the_end(backends.collect_within(Catalog::new([]).unwrap(), Duration::from_secs(2))).await;
    let failures = in_the_end(backends.start()).await;
    assert!(failures.is_empty(), "{failures:?}");
    let collected = collect().await;
    let dispatcher = toolkit::Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();

    gate.close();
    call(&dispatcher, "peer:die", json!({})).await.unwrap_err();
    let error = call(&dispatcher, "peer:pid", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Unavailable, true));
    assert!(error.message().starts_with("the MCP server `peer` is being restarted; try again"), "{error}");
    in_the_end(backends.changed()).await;
    let collected = collect().await;
    assert!(collected.catalog.get("peer:pid").is_some() && collected.failures.len() == 1);
    gate.open();
    call_restarted(&dispatcher, "peer:pid", json!({})).await.unwrap();
}

#[tokio::test]
async fn tools_of_a_lost_server_are_removed_after_the_grace_period() {
    let gate = Gate::new("gone");
    gate.open();
    let backends = Backends::new().with_grace(Duration::from_millis(300));
    backends.register(gate.peer("peer")).unwrap();
    let collect = async || in_the_end(backends.collect_within(Catalog::new([]).unwrap(), Duration::from_secs(2))).await;
    let failures = in_the_end(backends.start()).await;
    assert!(failures.is_empty(), "{failures:?}");
    let collected = collect().await;
    let dispatcher = toolkit::Dispatcher::builder(collected.catalog).routes(collected.routes).build().unwrap();
    gate.close();
    call(&dispatcher, "peer:die", json!({})).await.unwrap_err();
    // Only the elapsed time makes it a change.
    in_the_end(async {
        while collect().await.catalog.get("peer:pid").is_some() {
            backends.changed().await;
        }
    })
    .await;
    gate.open();
    in_the_end(async {
        while collect().await.catalog.get("peer:pid").is_none() {
            backends.changed().await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_start_is_an_error() {
    let soon = Duration::from_millis(300);
    let no_answer = "the MCP server `peer` did not respond within 300ms while connecting".to_owned();
    assert_eq!(not_started(peer(&["mute"]).start_timeout(soon)).await, (ErrorKind::Unavailable, no_answer.clone()));
    assert_eq!(not_started(peer(&["garbage"]).start_timeout(soon)).await, (ErrorKind::Unavailable, no_answer));
    let (kind, message) = not_started(peer(&["old"])).await;
    assert_eq!(kind, ErrorKind::Unavailable);
    assert_eq!(message, "the MCP server `peer` rejected this client: error -32600: too old");
    let (kind, message) = not_started(McpBackend::stdio("peer", "/nowhere/at-all")).await;
    assert_eq!(kind, ErrorKind::Unavailable);
    assert_eq!(message, "the MCP server `peer` cannot be started: entity not found");
    let (_, message) = not_started(McpBackend::stdio("peer", Program::new("sh").args(["-c", "exit 3"]))).await;
    assert_eq!(message, "the connection to the MCP server `peer` failed: it ended (exit status: 3)");
}

#[tokio::test]
async fn what_a_process_repeats_of_its_variables_reaches_no_error() {
    let script = "echo \"no account for $API_KEY in $FOLDER\" >&2; exit 3";
    let program = Program::new("sh").args(["-c", script]).env("API_KEY", "s3cr3t-key").env("FOLDER", "/srv/accounts");
    let error = in_the_end(McpBackend::stdio("peer", program).start()).await.unwrap_err();
    let sources = std::iter::successors(std::error::Error::source(&error), |error| error.source());
    let reported = sources.map(ToString::to_string).collect::<String>();
    assert!(reported.contains("no account for *** in /srv/accounts"), "{reported}");
    assert!(!format!("{error:?}{reported}").contains("s3cr3t"), "{error:?}");
}

/// A killed process closes its output before it exits, and may exit late on a busy machine.
#[tokio::test]
async fn the_status_of_a_server_that_exits_after_it_closed_its_output_is_reported() {
    let program = Program::new("sh").args(["-c", "exec 1>&-; sleep 1; exit 3"]);
    let (_, message) = not_started(McpBackend::stdio("peer", program)).await;
    assert_eq!(message, "the connection to the MCP server `peer` failed: it ended (exit status: 3)");
}

#[tokio::test]
async fn reconnecting_has_a_backoff() {
    let backend = McpBackend::stdio("peer", "/nowhere/at-all");
    in_the_end(backend.tools()).await.unwrap_err();
    let error = in_the_end(backend.tools()).await.unwrap_err();
    assert!(error.message().contains("the next attempt is in"), "{error}");
    tokio::time::sleep(error.retry_after().unwrap() + Duration::from_millis(20)).await;
    let error = in_the_end(backend.tools()).await.unwrap_err();
    assert!(error.message().contains("cannot be started"), "{error}");
}

#[tokio::test]
async fn a_stopped_server_runs_nothing_until_it_is_started() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    let pid = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    in_the_end(backend.stop()).await.unwrap();
    assert!(!is_there(&pid));
    let error = call(&dispatcher, "peer:pid", json!({})).await.unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Unavailable, "the MCP server `peer` is stopped"));
    in_the_end(backend.start()).await.unwrap();
    assert!(call(&dispatcher, "peer:pid", json!({})).await.is_ok());
}

#[tokio::test]
async fn dropping_the_backend_ends_the_process_group() {
    let script = format!("sleep 3600 & exec {} deaf", program("fixture_peer").display());
    let backend = McpBackend::stdio("peer", Program::new("sh").args(["-c", &script]));
    in_the_end(backend.start()).await.unwrap();
    let group = processes().into_iter().find(|process| process.args.ends_with("fixture_peer deaf")).unwrap().group;
    let n_left = || processes().into_iter().filter(|process| process.group == group).count();
    assert_eq!(n_left(), 2, "the server and its `sleep`");
    in_the_end(backend.stop()).await.unwrap();
    assert_eq!(n_left(), 0);
}

struct Process {
    group: String,
    args: String,
}

/// Returns the running processes, without zombies.
fn processes() -> Vec<Process> {
    let listed = std::process::Command::new("ps").args(["-eo", "stat=,pgid=,args="]).output().unwrap().stdout;
    let listed = String::from_utf8(listed).unwrap();
    let processes = listed.lines().filter(|line| !line.starts_with('Z')).map(|line| {
        let mut words = line.split_whitespace().skip(1);
        Process { group: words.next().unwrap().to_owned(), args: words.collect::<Vec<_>>().join(" ") }
    });
    processes.collect()
}

#[tokio::test]
async fn dropping_the_last_clone_ends_the_process() {
    let backend = peer(&["usual"]);
    let dispatcher = dispatcher(&backend).await;
    let pid = call(&dispatcher, "peer:pid", json!({})).await.unwrap();
    drop((backend, dispatcher));
    until(async || !is_there(&pid)).await;
}
