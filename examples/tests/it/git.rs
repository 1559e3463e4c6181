//! Tests of the git tools, on generated repositories.

mod configured;
mod outside;
mod processes;

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::common::Host;

/// Creates a repository with three commits by two people.
fn repository() -> Host {
    let host = Host::writable();
    let inside = host.dir.path().join("inside");
    let git = |author: &str, arguments: &[&str]| {
        let status = git(&inside, author, arguments).status();
        assert!(status.unwrap().success(), "{arguments:?}");
    };
    git("Ann", &["init", "--quiet"]);
    for (author, path, text, message) in [
        ("Ann", "a.txt", "one\n", "Begin"),
        ("Ben (x)", "-odd name.txt", "odd\n", "Add an odd name\n\nWith reasons."),
        ("Ann", "a.txt", "one\ntwo\n", "Go on"),
    ] {
        host.put(path, text);
        git(author, &["add", "--", path]);
        git(author, &["commit", "--quiet", "-m", message]);
    }
    host
}

/// Runs Git as a user does, without the configuration of this machine.
fn git(folder: &Path, author: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(folder)
        .args(["-c", "commit.gpgsign=false", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .stdin(Stdio::null())
        .envs([("GIT_CONFIG_GLOBAL", "/dev/null"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_TERMINAL_PROMPT", "0")])
        .envs([("GIT_AUTHOR_NAME", author), ("GIT_AUTHOR_EMAIL", "a@example.org")])
        .envs([("GIT_COMMITTER_NAME", author), ("GIT_COMMITTER_EMAIL", "a@example.org")])
        .envs([("GIT_AUTHOR_DATE", "2024-05-06T07:08:09Z"), ("GIT_COMMITTER_DATE", "2024-05-06T07:08:09Z")]);
    command
}

fn messages(log: &Value) -> Vec<&str> {
    log.as_array().unwrap().iter().map(|commit| commit["message"].as_str().unwrap()).collect()
}

#[test]
fn no_generated_call_breaks_the_contract_of_a_tool() {
    let host = repository();
    host.put("cities.csv", "name,inhabitants\nOslo,700000\nPrague,\n");
    let report = toolkit_contract::calls(&host.dispatcher).per_tool(40).expect_no_defects().unwrap();
    let untested: Vec<&str> = report.untested().iter().map(|untested| &*untested.tool).collect();
    assert_eq!(untested, ["files:write_file"]);
    assert!(report.n_calls() > 1_000, "{}", report.n_calls());
}

#[test]
fn logs() {
    let host = repository();
    let log = host.call("git_log", json!({}));
    assert_eq!(messages(&log), ["Go on", "Add an odd name", "Begin"]);
    assert_eq!((&log[0]["author"], &log[0]["date"]), (&json!("Ann"), &json!("2024-05-06T07:08:09Z")));
    for (filter, expected) in [
        (json!({"author": "Ben (x"}), vec!["Add an odd name"]),
        (json!({"author": ".*"}), vec![]),
        (json!({"path": "a.txt"}), vec!["Go on", "Begin"]),
        (json!({"path": "-odd name.txt"}), vec!["Add an odd name"]),
        (json!({"path": "*.txt"}), vec![]),
        (json!({"since": "2024-05-07"}), vec![]),
        (json!({"since": "2024-05-06", "limit": 1}), vec!["Go on"]),
        (json!({"revision": "HEAD~2"}), vec!["Begin"]),
    ] {
        assert_eq!(messages(&host.call("git_log", filter.clone())), expected, "{filter}");
    }
}

#[test]
fn shows_a_commit() {
    let host = repository();
    let shown = host.call("show_commit", json!({"revision": "HEAD~1", "with_patch": true}));
    assert_eq!(shown["commit"]["message"], "Add an odd name\n\nWith reasons.");
    assert_eq!(shown["files"], json!([{"path": "-odd name.txt", "added": 1, "removed": 0}]));
    assert!(shown["patch"].as_str().unwrap().contains("+odd"));
    assert_eq!(host.call("show_commit", json!({"revision": "HEAD~2"}))["files"][0]["path"], "a.txt");
}

#[test]
fn blames() {
    let host = repository();
    let lines = host.call("blame_file", json!({"path": "a.txt", "first_line": 2, "max_lines": 1}));
    assert_eq!(
        (&lines[0]["line"], &lines[0]["text"], &lines[0]["summary"]),
        (&json!(2), &json!("two"), &json!("Go on"))
    );
    assert_eq!(host.call("blame_file", json!({"path": "-odd name.txt"}))[0]["author"], "Ben (x)");
    host.refused("blame_file", json!({"path": "a.txt", "first_line": 9}), "Git failed: file a.txt has only 2 lines");
    host.refused("blame_file", json!({"path": "none.txt"}), "Git failed: no such path");
}

#[test]
fn nothing_becomes_an_option() {
    let host = repository();
    let marker = host.dir.path().join("marker");
    for revision in
        ["--output=../marker", "-p", "--all", "HEAD --all", "HEAD;touch ../marker", "$(touch ../marker)", ""]
    {
        host.misfit("git_log", json!({"revision": revision}), "/revision must match");
        host.misfit("show_commit", json!({"revision": revision}), "/revision must match");
    }
    assert_eq!(host.call("git_log", json!({"author": "--output=../marker"})), json!([]));
    assert_eq!(host.call("git_log", json!({"path": "--output=marker"})), json!([]));
    host.refused("blame_file", json!({"path": "--contents=a.txt"}), "Git failed: no such path");
    host.refused("git_log", json!({"revision": "nosuch"}), "Git failed: bad revision");
    host.refused("git_log", json!({"path": "../secret.txt"}), "is outside the root");
    assert!(!marker.exists() && !host.dir.path().join("inside/marker").exists());
}

#[test]
fn a_repository_outside_is_refused() {
    let host = Host::writable();
    host.refused("git_log", json!({}), "not in a Git repository below the root");
    let init = Command::new("git").args(["init", "--quiet"]).current_dir(host.dir.path()).status();
    assert!(init.unwrap().success());
    host.refused("git_log", json!({}), "not in a Git repository below the root");
    host.put(".git", "gitdir: ../.git");
    host.refused("git_log", json!({}), "lies outside the root");
}

#[test]
fn a_repository_made_of_written_files_is_not_opened() {
    let host = Host::writable();
    for (path, text) in [
        ("fake/HEAD", "ref: refs/heads/main\n"),
        ("fake/config", "[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tfsmonitor = touch ../../marker\n"),
        ("fake/objects/x", ""),
        ("fake/refs/x", ""),
    ] {
        host.call("write_file", json!({"path": path, "text": text}));
    }
    host.refused("git_log", json!({"repository": "fake"}), "not in a Git repository below the root");
    assert!(!host.dir.path().join("marker").exists());
}

#[test]
fn searches_history_and_gives_each_commit_as_it_is_found() {
    let host = repository();
    let found = host.call("search_history", json!({"text": "two"}));
    assert_eq!(messages(&found), ["Go on"]);
    assert_eq!(host.call("search_history", json!({"text": "never there"})), json!([]));
    assert_eq!(messages(&host.call("search_history", json!({"text": "o", "limit": 2}))).len(), 2);
    let events = host.events("search_history", json!({"text": "one"}));
    let kinds: Vec<&str> = events.iter().map(|event| event["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["chunk", "done"]);
    assert_eq!(events[0]["data"]["message"], "Begin");
    host.refused("search_history", json!({"text": "x", "revision": "nowhere"}), "Git failed: bad revision 'nowhere'");
}

#[test]
fn paths_start_from_the_directory_that_is_given() {
    let host = repository();
    host.put("sub/deep/c.txt", "c\n");
    let inside = host.dir.path().join("inside");
    for arguments in [&["add", "sub"][..], &["commit", "--quiet", "-m", "Add a folder"]] {
        assert!(git(&inside, "Ann", arguments).status().unwrap().success());
    }
    let log = |path: &str| host.call("git_log", json!({"repository": "sub", "path": path}));
    assert_eq!(messages(&log("deep/c.txt")), ["Add a folder"]);
    assert_eq!(messages(&log("./deep/.")), ["Add a folder"]);
    assert_eq!(messages(&log(".")), ["Add a folder"]);
    assert_eq!(messages(&log("a.txt")), [""; 0]);
    let blamed = host.call("blame_file", json!({"repository": "sub/deep", "path": "c.txt"}));
    assert_eq!(blamed[0]["summary"], "Add a folder");
}

#[test]
fn branches_tags_packed_refs_worktrees_and_shallow_clones_are_read() {
    let host = repository();
    let inside = host.dir.path().join("inside");
    let run = |folder: &Path, arguments: &[&str]| {
        assert!(git(folder, "Ann", arguments).status().unwrap().success(), "{arguments:?}");
    };
    run(&inside, &["branch", "side/one", "HEAD~1"]);
    run(&inside, &["tag", "-m", "first", "v1", "HEAD~2"]);
    let both = || {
        for (revision, n_commits) in [("main", 3), ("side/one", 2), ("v1", 1), ("HEAD", 3)] {
            let log = host.call("git_log", json!({"revision": revision}));
            assert_eq!(messages(&log).len(), n_commits, "{revision}");
        }
    };
    both();
    run(&inside, &["pack-refs", "--all"]);
    run(&inside, &["gc", "--quiet"]);
    both();
    run(&inside, &["worktree", "add", "--quiet", "tree", "side/one"]);
    assert_eq!(messages(&host.call("git_log", json!({"repository": "tree"}))).len(), 2);
    let url = format!("file://{}", inside.display());
    run(&inside, &["clone", "--quiet", "--depth=1", &url, "shallow"]);
    assert_eq!(messages(&host.call("git_log", json!({"repository": "shallow"}))), ["Go on"]);
    assert_eq!(messages(&host.call("git_log", json!({"repository": "shallow", "revision": "origin/main"}))), ["Go on"]);
    run(&inside, &["init", "--quiet", "--object-format=sha256", "long"]);
    run(&inside.join("long"), &["commit", "--quiet", "--allow-empty", "-m", "Long hashes"]);
    let log = host.call("git_log", json!({"repository": "long"}));
    assert_eq!((messages(&log), log[0]["hash"].as_str().unwrap().len()), (vec!["Long hashes"], 64));
}
