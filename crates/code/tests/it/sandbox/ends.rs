//! The signals and statuses of workers are failures of their programs.

use std::time::Duration;

use toolkit_code::sandbox::SandboxError;
use toolkit_code::{FailureKind, Limits};

use super::{native, start, tagged, until};

async fn end(code: &str, limits: &Limits) -> SandboxError {
    start(&native(), limits, code).await.unwrap_err()
}

#[tokio::test]
async fn memory_without_end_is_a_failure_of_memory() {
    let limits = Limits::default().memory_bytes(8 << 20).message_bytes(1 << 20);
    for program in ["blocks", "pieces", "recursion"] {
        let error = end(program, &limits).await;
        assert!(matches!(error, SandboxError::Ended(FailureKind::Memory, _)), "{program}: {error:?}");
    }
}

#[tokio::test]
async fn processor_time_without_end_is_a_failure_of_time() {
    let error = end("spin", &Limits::default().run_time(Duration::ZERO)).await;
    assert!(matches!(error, SandboxError::Ended(FailureKind::Time, _)), "{error:?}");
}

#[tokio::test]
async fn a_worker_that_ends_otherwise_is_at_fault() {
    let error = end("exit", &Limits::default()).await;
    assert!(
        matches!(&error, SandboxError::Protocol { reason, .. } if reason == "the worker ended: exit status: 3"),
        "{error:?}"
    );
    let SandboxError::Protocol { reason, .. } = end("panic", &Limits::default()).await else { panic!() };
    assert!(reason.starts_with("the worker ended: exit status: 101"), "{reason}");
}

#[tokio::test]
async fn no_zombie_remains() {
    let tagged = tagged();
    for program in ["exit", "unknown", "large", "wait"] {
        let _ = start(&tagged.sandbox, &Limits::default(), program).await;
    }
    until(|| children_that_are_zombies() == 0).await;
}

fn children_that_are_zombies() -> usize {
    let all = std::fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path());
    let parent = format!("\nPPid:\t{}\n", std::process::id());
    let statuses = all.filter_map(|path| std::fs::read_to_string(path.join("status")).ok());
    statuses.filter(|status| status.contains(&parent) && status.contains("State:\tZ")).count()
}
