//! Tests of the file tools, and of their confinement to the root.

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;
use toolkit::call::ErrorKind;
use toolkit::{CancelToken, Content, Context};

use super::common::Host;

/// Longer than any operation here takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// Paths that must not resolve. `out` is a link to the parent of the root, `file` one to a file in that parent.
const ESCAPES: [&str; 22] = [
    "..",
    "../secret.txt",
    "a/../../secret.txt",
    "./../secret.txt",
    "a/./../../secret.txt",
    "a/..",
    "/etc/passwd",
    "//etc/passwd",
    "/",
    "out/secret.txt",
    "out",
    "file",
    "absolute",
    "loop/x",
    "chain/secret.txt",
    "..\\secret.txt",
    "a\\..\\..\\secret.txt",
    "C:\\Windows\\win.ini",
    "C:/Windows/win.ini",
    "\\\\server\\share",
    "secret.txt\0.png",
    "a/\u{1b}[2Jsecret.txt",
];

fn traps(host: &Host) {
    let inside = host.dir.path().join("inside");
    host.put("a/b.txt", "inside");
    symlink("..", inside.join("out")).unwrap();
    symlink("../secret.txt", inside.join("file")).unwrap();
    symlink(host.dir.path().join("secret.txt"), inside.join("absolute")).unwrap();
    symlink("loop", inside.join("loop")).unwrap();
    symlink("out", inside.join("chain")).unwrap();
}

#[test]
fn no_path_leads_outside() {
    let host = Host::writable();
    traps(&host);
    for path in ESCAPES {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("view_picture", json!({"path": path})),
            ("list_files", json!({"folder": path})),
            ("search_files", json!({"folder": path, "pattern": "."})),
            ("describe_csv", json!({"source": {"file": path}})),
            ("write_file", json!({"path": format!("{path}/new.txt"), "text": "x", "overwrite": true})),
            ("git_log", json!({"repository": path})),
            ("blame_file", json!({"path": path})),
        ] {
            let error = host.run(&Context::new(), tool, arguments).map(|result| result.value());
            let error = error.expect_err(&format!("{tool} {path:?}"));
            assert_ne!(error.kind(), ErrorKind::Panicked, "{tool} {path:?}");
            let place = host.dir.path().to_str().unwrap();
            assert!(!error.to_string().contains(place), "the place of the root leaks: {error}");
        }
    }
    let mut around: Vec<_> = fs::read_dir(host.dir.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    around.sort();
    assert_eq!(around, ["inside", "secret.txt"]);
    assert_eq!(fs::read_to_string(host.dir.path().join("secret.txt")).unwrap(), "outside");
}

#[test]
fn a_link_itself_may_be_looked_at_and_replaced() {
    let host = Host::writable();
    traps(&host);
    for path in ESCAPES.iter().filter(|path| !["out", "file", "absolute"].contains(path)) {
        let error = host.run(&Context::new(), "stat_file", json!({"path": path})).map(|result| result.value());
        error.expect_err(path);
    }
    assert_eq!(host.call("stat_file", json!({"path": "file"}))["kind"], "link");
    host.call("write_file", json!({"path": "file", "text": "mine", "overwrite": true}));
    assert_eq!(host.call("read_file", json!({"path": "file"}))["text"], "mine");
    assert_eq!(fs::read_to_string(host.dir.path().join("secret.txt")).unwrap(), "outside");
}

#[test]
fn links_inside_may_be_followed() {
    let host = Host::read_only();
    host.put("a/b.txt", "inside");
    symlink("a/b.txt", host.dir.path().join("inside/alias")).unwrap();
    assert_eq!(host.call("read_file", json!({"path": "alias"}))["text"], "inside");
}

/// `.git/config` may contain credentials, as part of a URL.
#[test]
fn git_internals_are_neither_read_nor_listed() {
    let host = Host::writable();
    host.put("a/b.txt", "inside");
    for path in [".git/config", "sub/.git/HEAD", "sub/.git/x.csv", "GIT~1", "tree/.git"] {
        host.put(path, "url = https://ann:hunter2@example.org");
    }
    symlink("sub/.git", host.dir.path().join("inside/innocent")).unwrap();
    symlink(".git/config", host.dir.path().join("inside/notes.txt")).unwrap();
    for path in [
        ".git/config",
        "./.git/config",
        ".git/nothing",
        "sub/.git/HEAD",
        "sub/.git/x.csv",
        "innocent/HEAD",
        "innocent/x.csv",
        "notes.txt",
        "GIT~1",
        "tree/.git",
        ".git",
        "sub/.git",
        "innocent",
    ] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("view_picture", json!({"path": path})),
            ("list_files", json!({"folder": path})),
            ("search_files", json!({"folder": path, "pattern": "."})),
            ("describe_csv", json!({"source": {"file": path}})),
            ("query_csv", json!({"source": {"file": path}})),
            ("git_log", json!({"repository": path})),
        ] {
            let error = host.run(&Context::new(), tool, arguments).map(|result| result.value());
            let error = error.expect_err(&format!("{tool} {path}"));
            assert_eq!(error.kind(), ErrorKind::Failed, "{tool} {path}: {error}");
            assert!(!error.to_string().contains("hunter2"));
        }
    }
    host.refused("stat_file", json!({"path": ".git/config"}), "files in `.git` cannot be read");
    host.refused("stat_file", json!({"path": "innocent/HEAD"}), "files in `.git` cannot be read");
    let found = host.call("search_files", json!({"pattern": "hunter2"}));
    assert_eq!(found["hits"], json!([]));
}

/// A hard link cannot be distinguished from other files: it has no target to check.
#[test]
fn hard_links_are_refused() {
    let host = Host::writable();
    fs::hard_link(host.dir.path().join("secret.txt"), host.dir.path().join("inside/mine.txt")).unwrap();
    host.refused("read_file", json!({"path": "mine.txt"}), "`mine.txt` is a hard link");
    host.refused("view_picture", json!({"path": "mine.txt"}), "is a hard link");
    host.refused("describe_csv", json!({"source": {"file": "mine.txt"}}), "is a hard link");
    assert_eq!(host.call("search_files", json!({"pattern": "outside"}))["hits"], json!([]));
    host.call("write_file", json!({"path": "mine.txt", "text": "new", "overwrite": true}));
    assert_eq!(fs::read_to_string(host.dir.path().join("secret.txt")).unwrap(), "outside");
    assert_eq!(host.call("read_file", json!({"path": "mine.txt"}))["text"], "new");
}

/// Between the check of a path and its opening, a named pipe may replace the file; opening it must not block.
#[test]
fn a_pipe_in_place_of_a_file_keeps_nobody_waiting() {
    let host = Host::read_only();
    host.put("text", "inside");
    let inside = host.dir.path().join("inside");
    assert!(std::process::Command::new("mkfifo").arg(inside.join("pipe")).status().unwrap().success());
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // `place` is alternately the file and the pipe.
            while !stop.load(Ordering::Relaxed) {
                for what in ["text", "pipe"] {
                    let new = inside.join("new");
                    let _ = fs::remove_file(&new);
                    symlink(what, &new).unwrap();
                    fs::rename(&new, inside.join("place")).unwrap();
                }
            }
        });
        for _ in 0..2000 {
            match host.dispatcher.call_sync("read_file", r#"{"path": "place"}"#) {
                Ok(result) => assert_eq!(result.value()["text"], "inside"),
                Err(error) => {
                    assert!(error.message().contains("not a file") || error.message().contains("exist"), "{error}")
                }
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn long_names_are_refused() {
    let host = Host::writable();
    host.refused("read_file", json!({"path": "x".repeat(300)}), "below 256 bytes");
    host.misfit("read_file", json!({"path": "x/".repeat(100_000)}), "at most 1024 characters");
    host.misfit("read_file", json!({"path": ""}), "at least 1 character");
    host.refused("write_file", json!({"path": "é".repeat(200), "text": ""}), "below 256 bytes");
}

#[test]
fn other_things_than_files_are_refused() {
    let host = Host::read_only();
    host.put("a/binary", b"\x7fELF\0\0");
    host.put("a/latin1", b"caf\xe9");
    let fifo = host.dir.path().join("inside/fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    host.refused("read_file", json!({"path": "a"}), "not a file");
    host.refused("read_file", json!({"path": "fifo"}), "not a file");
    host.refused("read_file", json!({"path": "a/binary"}), "not text");
    host.refused("read_file", json!({"path": "a/latin1"}), "not text");
    host.refused("read_file", json!({"path": "nothing"}), "does not exist");
    host.refused("read_file", json!({"path": "a/binary/x"}), "not a directory");
    host.refused("list_files", json!({"folder": "a/binary"}), "not a directory");
    assert_eq!(host.call("stat_file", json!({"path": "fifo"}))["kind"], "other");
}

#[test]
fn reads_by_lines() {
    let host = Host::read_only();
    host.put("t.txt", "one\ntwo\r\nthree\n\nfive");
    let some = host.call("read_file", json!({"path": "t.txt", "first_line": 2, "max_lines": 2}));
    assert_eq!(some, json!({"text": "two\r\nthree\n", "first_line": 2, "lines": 2, "total_lines": 5}));
    let bounded = host.call("read_file", json!({"path": "t.txt", "max_bytes": 5}));
    assert_eq!(bounded["text"], "one\n");
    host.refused("read_file", json!({"path": "t.txt", "first_line": 6}), "only 5 lines");
    host.refused("read_file", json!({"path": "t.txt", "max_bytes": 2}), "raise it");
    host.misfit("read_file", json!({"path": "t.txt", "first_line": 0}), "/first_line must be at least 1");
    host.put("empty", "");
    assert_eq!(host.call("read_file", json!({"path": "empty"}))["lines"], 0);
}

#[test]
fn a_long_file_links_to_itself() {
    let host = Host::read_only();
    host.put("a b.txt", "x\n".repeat(10));
    let content = host.content("read_file", json!({"path": "a b.txt", "max_lines": 1}));
    assert!(
        content.iter().any(|block| matches!(block, Content::ResourceLink { uri, .. } if uri == "root:///a%20b.txt"))
    );
}

#[test]
fn large_files_are_refused() {
    let host = Host::read_only();
    host.put("large", "x".repeat(10_000_000));
    host.refused("read_file", json!({"path": "large"}), "the limit of 5000000 bytes");
    host.refused("view_picture", json!({"path": "large"}), "the limit of 4000000 bytes");
    assert_eq!(host.call("search_files", json!({"pattern": "x"}))["files_skipped"], 1);
}

#[test]
fn lists_sorted_and_filtered() {
    let host = Host::read_only();
    for path in ["b.rs", "a/c.rs", "a/d.txt", "a/.git/config"] {
        host.put(path, "x");
    }
    traps(&host);
    let paths = |arguments| -> Vec<String> {
        let listing = host.call("list_files", arguments);
        let entries = listing["entries"].as_array().unwrap();
        entries.iter().map(|entry| entry["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(json!({"glob": "*.rs"})), ["a/c.rs", "b.rs"]);
    assert_eq!(paths(json!({"glob": "a/*.txt"})), ["a/b.txt", "a/d.txt"]);
    assert_eq!(paths(json!({"folder": "a"})), ["a/b.txt", "a/c.rs", "a/d.txt"]);
    assert_eq!(paths(json!({"folder": "./a/", "glob": "{c,d}.*"})), ["a/c.rs", "a/d.txt"]);
    assert_eq!(host.call("list_files", json!({"limit": 1}))["truncated"], true);
    host.refused("list_files", json!({"glob": "a[", }), "the glob is not valid");
}

#[test]
fn writes_only_where_it_may() {
    let reader = Host::read_only();
    reader.refused("write_file", json!({"path": "x", "text": ""}), "are read-only");
    let host = Host::writable();
    let write = |path: &str, overwrite: bool| json!({"path": path, "text": "new", "overwrite": overwrite});
    assert_eq!(host.call("write_file", write("deep/er/x.txt", false)), json!({"bytes": 3, "replaced": false}));
    host.refused("write_file", write("deep/er/x.txt", false), "set `overwrite`");
    assert_eq!(host.call("write_file", write("deep/er/x.txt", true))["replaced"], true);
    host.refused("write_file", write("deep", true), "not a file");
    host.refused("write_file", write(".", true), "not a file");
    for path in [".git/config", ".GIT/hooks/pre-commit", "deep/.git/config", ".git./config", ".git"] {
        host.refused("write_file", write(path, true), "files in `.git` cannot be read or written");
    }
    host.put("repo/.git/HEAD", "x");
    symlink("repo/.git", host.dir.path().join("inside/innocent")).unwrap();
    host.refused("write_file", write("innocent/config", true), "files in `.git` cannot be read or written");
    host.misfit("write_file", json!({"path": "x", "text": "x".repeat(10_000_000)}), "at most 1000000 characters");
    let left = fs::read_dir(host.dir.path().join("inside/deep/er")).unwrap().count();
    assert_eq!(left, 1, "no temporary file is left behind");
}

#[test]
fn shows_pictures() {
    let host = Host::read_only();
    host.put("p.png", b"\x89PNG\r\n\x1a\nrest");
    host.put("fake.png", "text");
    let content = host.content("view_picture", json!({"path": "p.png"}));
    assert!(matches!(&content[0], Content::Image { mime_type, .. } if mime_type == "image/png"));
    host.refused("view_picture", json!({"path": "fake.png"}), "not a PNG");
}

#[test]
fn searches_with_context() {
    let host = Host::read_only();
    host.put("a.txt", "one\nTWO\nthree\n");
    host.put("b.bin", b"two\0");
    let found = host.call("search_files", json!({"pattern": "two", "ignore_case": true, "context": 1}));
    let hit = json!({"path": "a.txt", "line": 2, "text": "TWO", "before": ["one"], "after": ["three"]});
    let expected = json!({"hits": [hit], "files_searched": 1, "files_skipped": 1, "stopped": "finished"});
    assert_eq!(found, expected);
    let one = host.call("files:grep", json!({"pattern": ".", "max_hits": 1}));
    assert_eq!((one["hits"].as_array().unwrap().len(), &one["stopped"]), (1, &json!("max_hits")));
    host.put("long", format!("{}needle{}", "é".repeat(50_000), "x".repeat(50_000)));
    let cut = host.call("search_files", json!({"pattern": "needle"}));
    let text = cut["hits"][0]["text"].as_str().unwrap();
    assert!(text.contains("needle") && text.chars().count() < 310, "{text}");
}

#[test]
fn hostile_patterns_are_bounded() {
    let host = Host::read_only();
    host.put("a.txt", "a".repeat(1_000_000));
    for pattern in ["(a+)+$b", "(a|a)*b", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$"] {
        assert_eq!(host.call("search_files", json!({"pattern": pattern}))["hits"], json!([]), "{pattern}");
    }
    host.refused("search_files", json!({"pattern": r"\w{1000}"}), "too large once compiled");
    host.refused("search_files", json!({"pattern": "(((a{100}){100}){100}){100}"}), "too large once compiled");
    host.refused("search_files", json!({"pattern": "("}), "not valid");
    host.refused("search_files", json!({"pattern": r"(?=a)"}), "no look-around");
    host.misfit("search_files", json!({"pattern": "a".repeat(1001)}), "at most 1000 characters");
    host.misfit("search_files", json!({"patern": "a"}), "did you mean `pattern`?");
}

#[test]
fn search_reports_progress() {
    let host = Host::read_only();
    for idx in 0..3 {
        host.put(&format!("{idx}.txt"), "x");
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let context =
        Context::new().on_progress(move |progress| heard.lock().unwrap().push((progress.done, progress.total)));
    host.run(&context, "search_files", json!({"pattern": "x"})).unwrap();
    let total = Some(3.0);
    assert_eq!(*seen.lock().unwrap(), [(0.0, total), (1.0, total), (2.0, total), (3.0, total)]);
}

#[test]
fn search_stops_when_it_is_cancelled() {
    let host = Host::read_only();
    for idx in 0..100 {
        host.put(&format!("{idx}.txt"), "x");
    }
    let token = CancelToken::new();
    let cancel = token.clone();
    let context = Context::new().with_cancel(token).on_progress(move |progress| {
        if progress.done >= 2.0 {
            cancel.cancel();
        }
    });
    // On its own thread, the tool does not delay the response; otherwise it returns partial results.
    let result = host.dispatcher.call_sync_with(&context, "search_files", r#"{"pattern": "x"}"#).unwrap().value();
    assert_eq!((&result["stopped"], &result["files_searched"]), (&json!("cancelled"), &json!(2)));
    let error = host.run(&context, "search_files", json!({"pattern": "x"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
}

#[test]
fn search_stops_when_nobody_waits() {
    let host = Host::read_only();
    for idx in 0..200 {
        host.put(&format!("{idx}.txt"), "x\n".repeat(100));
    }
    let (reached, reports) = mpsc::channel();
    let (given_up, go_on) = mpsc::channel::<()>();
    let (token, go_on) = (CancelToken::new(), Mutex::new(go_on));
    let cancel = token.clone();
    let context = Context::new().with_cancel(token).on_progress(move |progress| {
        reached.send(progress.done).unwrap();
        if progress.done == 3.0 {
            cancel.cancel();
            // Until the dispatcher has abandoned the call, which the tool cannot observe.
            go_on.lock().unwrap().recv_timeout(PATIENCE).unwrap();
        }
    });
    let error = host.run(&context, "search_files", json!({"pattern": "y"})).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    given_up.send(()).unwrap();
    // The tool has ended when no progress can be reported.
    drop(context);
    let mut reported = Vec::new();
    loop {
        match reports.recv_timeout(PATIENCE) {
            Ok(done) => reported.push(done),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => panic!("it does not end"),
        }
    }
    assert_eq!(reported, [0.0, 1.0, 2.0, 3.0]);
}
