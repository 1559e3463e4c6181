//! Repositories that lead out of the root: each of them is rejected, and no content from outside is returned.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::configured::all_tools;
use super::{git, repository};
use crate::common::Host;

/// Creates a repository below the root, and one beside the root that contains a secret.
fn two() -> (Host, PathBuf, PathBuf) {
    let host = repository();
    let (inside, outside) = (host.dir.path().join("inside"), host.dir.path().join("private"));
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a.txt"), "hunter2\n").unwrap();
    for arguments in [&["init", "--quiet"][..], &["add", "a.txt"], &["commit", "--quiet", "-m", "hunter2"]] {
        assert!(git(&outside, "hunter2", arguments).status().unwrap().success());
    }
    (host, inside, outside)
}

fn gives_nothing_away(host: &Host) {
    for result in all_tools(host) {
        assert!(!result.to_string().contains("hunter2"), "{result}");
    }
}

fn hash_of(folder: &Path, revision: &str) -> String {
    let output = git(folder, "Ann", &["rev-parse", revision]).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[test]
fn objects_of_others_are_not_borrowed() {
    let (host, inside, outside) = two();
    let objects = outside.join(".git/objects");
    fs::create_dir_all(inside.join(".git/objects/info")).unwrap();
    fs::write(inside.join(".git/objects/info/alternates"), format!("{}\n", objects.display())).unwrap();
    fs::write(inside.join(".git/refs/heads/main"), hash_of(&outside, "HEAD")).unwrap();
    assert!(git(&inside, "Ann", &["log"]).output().unwrap().status.success(), "the trap is none");
    gives_nothing_away(&host);
    host.refused("git_log", json!({}), "objects outside of itself (`objects/info/alternates`)");
}

#[test]
fn linked_objects_are_refused() {
    for linked in ["objects", "objects/pack", "objects/xx"] {
        let (host, inside, outside) = two();
        assert!(git(&outside, "Ann", &["gc", "--quiet"]).status().unwrap().success());
        let place = inside.join(".git").join(linked);
        if place.exists() {
            fs::rename(&place, host.dir.path().join("moved")).unwrap();
        }
        symlink(outside.join(".git/objects"), &place).unwrap();
        fs::write(inside.join(".git/refs/heads/main"), hash_of(&outside, "HEAD")).unwrap();
        gives_nothing_away(&host);
        host.refused("git_log", json!({}), "objects outside of itself");
    }
}

#[test]
fn linked_packs_are_refused() {
    let (host, inside, outside) = two();
    assert!(git(&outside, "Ann", &["gc", "--quiet"]).status().unwrap().success());
    let packs = inside.join(".git/objects/pack");
    fs::create_dir_all(&packs).unwrap();
    for entry in fs::read_dir(outside.join(".git/objects/pack")).unwrap().flatten() {
        symlink(entry.path(), packs.join(entry.file_name())).unwrap();
    }
    fs::write(inside.join(".git/refs/heads/main"), hash_of(&outside, "HEAD")).unwrap();
    assert!(git(&inside, "Ann", &["log"]).output().unwrap().status.success(), "the trap is none");
    gives_nothing_away(&host);
    host.refused("git_log", json!({}), "objects outside of itself");
}

#[test]
fn git_directories_elsewhere_are_refused() {
    let (host, inside, outside) = two();
    fs::rename(inside.join(".git"), host.dir.path().join("moved")).unwrap();
    for text in
        ["gitdir: ../private/.git", &format!("gitdir: {}", outside.join(".git").display()), "gitdir: /", "", "x"]
    {
        host.put(".git", text);
        host.refused("git_log", json!({}), "lies outside the root");
        gives_nothing_away(&host);
    }
    fs::remove_file(inside.join(".git")).unwrap();
    symlink(outside.join(".git"), inside.join(".git")).unwrap();
    host.refused("git_log", json!({}), "lies outside the root");
    gives_nothing_away(&host);
}

#[test]
fn a_common_directory_elsewhere_is_refused() {
    let (host, inside, outside) = two();
    for path in ["../../private/.git", &outside.join(".git").display().to_string()] {
        fs::write(inside.join(".git/commondir"), path).unwrap();
        host.refused("git_log", json!({}), "lies outside the root");
        gives_nothing_away(&host);
    }
}

#[test]
fn refs_that_lead_elsewhere_name_nothing() {
    let (host, inside, outside) = two();
    fs::write(host.dir.path().join("hash"), hash_of(&inside, "HEAD")).unwrap();
    symlink(host.dir.path().join("hash"), inside.join(".git/refs/heads/linked")).unwrap();
    fs::write(inside.join(".git/refs/heads/named"), "ref: ../../hash").unwrap();
    symlink(outside.join(".git/refs"), inside.join(".git/refs/private")).unwrap();
    for revision in ["linked", "named", "private/heads/main"] {
        host.refused("git_log", json!({"revision": revision}), "Git failed: bad revision");
    }
    for (file, text) in [("HEAD", "ref: ../../hash"), ("HEAD", "hunter2"), ("HEAD", "")] {
        fs::write(inside.join(".git").join(file), text).unwrap();
        host.refused("git_log", json!({}), "the repository is broken: `HEAD`");
    }
    fs::remove_file(inside.join(".git/HEAD")).unwrap();
    symlink(host.dir.path().join("hash"), inside.join(".git/HEAD")).unwrap();
    host.refused("git_log", json!({}), "the repository is broken: `HEAD`");
}

#[test]
fn a_pipe_in_a_git_directory_keeps_nobody_waiting() {
    for name in ["HEAD", "packed-refs", "shallow", "objects/pack/pack-0.idx", "refs/heads/pipe", "commondir"] {
        let (host, inside, _) = two();
        let pipe = inside.join(".git").join(name);
        let _ = fs::remove_file(&pipe);
        fs::create_dir_all(pipe.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        // It ends with an error, or without the content of the pipe.
        let _ = host.run(&Default::default(), "git_log", json!({}));
    }
}
