//! Tests of the resource limits of Git, and of its termination.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Context};

use super::{git, repository};
use crate::common::Host;

fn run(folder: &Path, arguments: &[&str]) {
    assert!(git(folder, "Ann", arguments).status().unwrap().success(), "{arguments:?}");
}

/// Creates a repository with a file of zeros, which takes almost no space on disk.
fn with_zeros(mebibytes: u64) -> Host {
    let host = repository();
    let inside = host.dir.path().join("inside");
    fs::File::create(inside.join("zeros")).unwrap().set_len(mebibytes << 20).unwrap();
    run(&inside, &["add", "zeros"]);
    run(&inside, &["commit", "--quiet", "-m", "Add zeros"]);
    host
}

#[test]
fn a_huge_file_in_a_small_repository_is_not_held_in_memory() {
    let host = with_zeros(200);
    assert_eq!(host.call("show_commit", json!({}))["files"], json!([{"path": "zeros"}]));
    let too_large = "a file of more than 64 MiB";
    host.refused("show_commit", json!({"with_patch": true}), too_large);
    host.refused("search_history", json!({"text": "nowhere"}), too_large);
    host.refused("blame_file", json!({"path": "zeros"}), too_large);
}

#[test]
fn what_git_prints_is_bounded() {
    let host = repository();
    let inside = host.dir.path().join("inside");
    host.put("a.txt", "a line of text\n".repeat(400_000));
    run(&inside, &["commit", "--quiet", "-am", "Add a long text"]);
    host.refused("show_commit", json!({"with_patch": true}), "the output of Git is too long");
    fs::write(inside.join("message"), "x".repeat(5_000_000)).unwrap();
    host.put("a.txt", "needle");
    run(&inside, &["commit", "--quiet", "-a", "-F", "message"]);
    host.refused("git_log", json!({}), "the output of Git is too long");
    host.refused("search_history", json!({"text": "needle"}), "the output of Git is too long");
}

/// Returns the processes with this directory in their environment.
fn processes_of(host: &Host) -> usize {
    let place = host.dir.path().to_str().unwrap();
    let environments = fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path().join("environ"));
    environments
        .filter_map(|path| fs::read(path).ok())
        .filter(|text| String::from_utf8_lossy(text).contains(place))
        .count()
}

/// Git ends with the call that it was started for, and at most four processes run at the same time.
#[cfg(target_os = "linux")]
#[test]
fn git_is_killed_with_its_call_and_few_run_at_once() {
    let host = repository();
    let inside = host.dir.path().join("inside");
    // Enough commits that no search through them ends before it is observed.
    let mut import = Command::new("git")
        .args(["fast-import", "--quiet", "--force"])
        .current_dir(&inside)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stream = String::new();
    for n in 0..100_000 {
        let body = format!("line {n}\n");
        stream += &format!(
            "commit refs/heads/long\ncommitter A <a@example.org> {n} +0000\ndata 1\nx\nM 644 inline f\ndata {}\n{body}\n",
            body.len()
        );
    }
    std::io::Write::write_all(&mut import.stdin.take().unwrap(), stream.as_bytes()).unwrap();
    assert!(import.wait().unwrap().success());

    let token = CancelToken::new();
    let context = Context::new().with_cancel(token.clone());
    let search = || host.run(&context, "search_history", json!({"text": "nowhere at all", "revision": "long"}));
    let most = std::thread::scope(|scope| {
        let searches: Vec<_> = (0..8).map(|_| scope.spawn(search)).collect();
        let mut most = 0;
        while most < 4 && !searches.iter().any(|search| search.is_finished()) {
            most = most.max(processes_of(&host));
            std::thread::sleep(Duration::from_millis(5));
        }
        most = most.max(processes_of(&host));
        token.cancel();
        for search in searches {
            let error = search.join().unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Cancelled, "{error:?}");
        }
        most
    });
    assert!((1..=4).contains(&most), "{most} processes at once");
    // A killed process disappears after it has been waited for, which the runtime does in the background.
    while processes_of(&host) > 0 {
        std::thread::sleep(Duration::from_millis(10));
    }
}
