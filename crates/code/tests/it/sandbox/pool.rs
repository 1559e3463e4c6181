//! Workers that are started ahead of time.

use std::path::Path;
use std::process::Command;

use toolkit_code::Limits;
use toolkit_code::sandbox::{Process, Sandbox};

use super::{Tagged, in_the_end, start, tagged, until, value};

fn pooled(n: usize) -> Tagged {
    let Tagged { sandbox, tag } = tagged();
    Tagged { sandbox: sandbox.ready(n), tag }
}

fn kill(process: &Path) {
    let pid = process.file_name().unwrap();
    assert!(Command::new("kill").arg("-KILL").arg(pid).status().unwrap().success());
}

/// Returns true for a zombie too. A process that was killed loses its memory and its arguments before it exits.
fn has_exited(process: &Path) -> bool {
    let stat = std::fs::read_to_string(process.join("stat"));
    stat.map_or(true, |stat| stat.rsplit_once(") ").is_some_and(|(_, fields)| fields.starts_with('Z')))
}

#[tokio::test]
async fn a_session_takes_a_worker_that_is_ready_and_another_one_is_started() {
    let pool = pooled(2);
    let limits = Limits::default();
    in_the_end(pool.sandbox.prepare(&limits)).await.unwrap();
    let before = pool.processes();
    assert_eq!(before.len(), 2);
    let session = in_the_end(pool.sandbox.open(&limits)).await.unwrap();
    until(|| pool.processes().len() == 3).await;
    drop(session);
    until(|| pool.processes().len() == 2).await;
    let n_remaining = pool.processes().iter().filter(|process| before.contains(process)).count();
    assert_eq!(n_remaining, 1, "the session had one of the first workers, and it runs no second program");
}

#[tokio::test]
async fn a_worker_that_died_while_it_waited_is_not_used() {
    let pool = pooled(1);
    let limits = Limits::default();
    in_the_end(pool.sandbox.prepare(&limits)).await.unwrap();
    let before = pool.processes();
    kill(&before[0]);
    until(|| has_exited(&before[0])).await;
    let step = start(&pool.sandbox, &limits, "large").await.unwrap();
    assert_eq!(value(&step), "1000000");
}

#[tokio::test]
async fn workers_for_other_limits_are_replaced() {
    let pool = pooled(1);
    in_the_end(pool.sandbox.prepare(&Limits::default())).await.unwrap();
    let before = pool.processes();
    let other = Limits::default().memory_bytes(8 << 20);
    drop(in_the_end(pool.sandbox.open(&other)).await.unwrap());
    until(|| matches!(&pool.processes()[..], [one] if !before.contains(one))).await;
}

#[tokio::test]
async fn dropping_the_sandbox_ends_the_workers() {
    let pool = pooled(2);
    in_the_end(pool.sandbox.prepare(&Limits::default())).await.unwrap();
    let (sandbox, tag) = (pool.sandbox, pool.tag);
    drop(sandbox);
    let unused = Tagged { sandbox: Process::new(), tag };
    until(|| unused.processes().is_empty()).await;
}
