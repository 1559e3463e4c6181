//! A program that has escaped from its engine reaches nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use toolkit_code::sandbox::{CommandLine, Guarantee, Process, Sandbox, SandboxError};
use toolkit_code::{FailureKind, Limits};

use super::{in_the_end, native, opened, start, tagged, value, worker};

#[tokio::test]
async fn no_system_call_of_a_program_succeeds() {
    let listed = Command::new(worker()).arg("list").output().unwrap();
    let names = String::from_utf8(listed.stdout).unwrap();
    let mut n_ended = 0;
    for name in names.lines() {
        match start(&native(), &Limits::default(), name).await {
            Err(SandboxError::Ended(FailureKind::Violation, _)) => n_ended += 1,
            Ok(step) => {
                let result: i64 = value(&step).parse().unwrap();
                assert!(result < 0, "{name} returned {result}");
            }
            Err(error) => panic!("{name}: {error}"),
        }
    }
    let n = names.lines().count();
    assert!(n >= 100, "{n} attempts");
    // Failing is not enough for most: a program that goes on could try the next one.
    assert_eq!(n_ended, n);
    assert!(!Path::new("/tmp/toolkit-escaped").exists());
    test_support::ran(n);
}

#[tokio::test]
async fn the_kernel_confirms_the_confinement() {
    let tagged = tagged();
    let session = opened(&tagged.sandbox).await;
    let [process] = &tagged.processes()[..] else { panic!("there is one worker") };
    let status = fs::read_to_string(process.join("status")).unwrap();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_else(|| panic!("{name} in {status}")).trim().to_owned()
    };
    assert_eq!(field("Seccomp"), "2");
    assert_eq!(field("NoNewPrivs"), "1");
    assert_eq!(field("Threads"), "1");
    assert_eq!(fs::read(process.join("environ")).unwrap(), b"");
    assert_eq!(fs::read_link(process.join("cwd")).unwrap(), Path::new("/"));
    let limits = fs::read_to_string(process.join("limits")).unwrap();
    let limit = |name: &str| {
        let line = limits.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_else(|| panic!("{name} in {limits}")).split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(limit("Max file size"), "0");
    assert_eq!(limit("Max core file size"), "0");
    assert_eq!(limit("Max open files"), "3");
    assert_eq!(limit("Max processes"), "0");
    assert_eq!(limit("Max cpu time"), "12");
    let address_space: u64 = limit("Max address space").parse().unwrap();
    assert!((64 << 20..1 << 30).contains(&address_space), "{address_space}");
    for guarantee in [Guarantee::Files, Guarantee::Network, Guarantee::Processes, Guarantee::Environment] {
        assert!(session.enforced().contains(guarantee), "{guarantee:?}");
    }
}

#[tokio::test]
async fn inherited_descriptors_are_closed() {
    let tagged = tagged();
    let script = format!("exec 9</etc/passwd 8>/dev/null; exec {} native {}", worker(), tagged.tag);
    let sandbox = Process::command("leaking", CommandLine::new("/bin/sh").args(["-c", &script]));
    let _session = in_the_end(sandbox.open(&Limits::default())).await.unwrap();
    let [process] = &tagged.processes()[..] else { panic!("there is one worker") };
    let descriptors = fs::read_dir(process.join("fd")).unwrap();
    let names: BTreeSet<_> = descriptors.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(names.into_iter().collect::<Vec<_>>(), ["0", "1", "2"]);
}

#[tokio::test]
async fn a_worker_that_has_an_environment_drops_it() {
    let tagged = tagged();
    let script = format!("SECRET=1 exec {} native {}", worker(), tagged.tag);
    let sandbox = Process::command("leaking", CommandLine::new("/bin/sh").args(["-c", &script]));
    let session = in_the_end(sandbox.open(&Limits::default())).await.unwrap();
    assert!(session.enforced().contains(Guarantee::Environment));
    let [process] = &tagged.processes()[..] else { panic!("there is one worker") };
    assert_eq!(fs::read(process.join("environ")).unwrap(), b"");
}
