//! A host that runs all hostile programs, each in a worker.

use std::time::Duration;

use serde_json::{Value, json};
use test_support::programs::{self, Ended};
use toolkit_code::engine::{Done, State, Usage};
use toolkit_code::sandbox::{Process, Sandbox, SandboxError};
use toolkit_code::{Failure, FailureKind, Limits, Program};

/// The time beyond that of a program after which its worker is killed.
const GRACE: Duration = Duration::from_millis(100);

/// Runs the programs, and returns what was unexpected and what became of the host.
pub async fn run() -> Value {
    let sandbox = Process::new();
    // The tests of the engine run all of them.
    let (harsh, known): (Vec<_>, Vec<_>) = programs::hostile().into_iter().partition(|known| known.needs_process);
    let known: Vec<_> = harsh.into_iter().chain(test_support::sample(known, 3)).collect();
    let (mut mismatches, mut before) = (Vec::new(), 0);
    for (idx, known) in known.iter().enumerate() {
        // The first ones fill caches.
        if idx == 10 {
            before = resident_kilobytes();
        }
        let time = Duration::from_millis(if known.needs_process { 400 } else { 20_000 });
        let limits = programs::small_limits().run_time(time);
        let ended = in_worker(&sandbox, &limits, &programs::program(&known.code)).await;
        mismatches.extend(programs::mismatch(known, &ended));
    }
    let grown = resident_kilobytes().saturating_sub(before);
    let last = programs::program("return await tools.math.add({ a: 1, b: 2 })");
    let last = in_worker(&sandbox, &Limits::default(), &last).await;
    // The statuses of the last ones are collected in the background.
    for _ in 0..1000 {
        if n_children() == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    json!({
        "programs": known.len(),
        "mismatches": mismatches,
        "grown_kilobytes": grown,
        "children": n_children(),
        "last": last.summary(),
    })
}

/// Runs a program to its end as hosts do, or ends it.
async fn in_worker(sandbox: &Process, limits: &Limits, program: &Program) -> Ended {
    let mut ended = Ended {
        done: Done { outcome: Err(Failure::new(FailureKind::Time, "the program was ended")), shown: Vec::new() },
        printed: Vec::new(),
        calls: Vec::new(),
        steps: Vec::new(),
        usage: Usage::default(),
    };
    match tokio::time::timeout(limits.run_time + GRACE, exchange(sandbox, limits, program, &mut ended)).await {
        Ok(Ok(())) | Err(_) => {}
        Ok(Err(SandboxError::Ended(kind, reason))) => ended.done.outcome = Err(Failure::new(kind, reason)),
        Ok(Err(error)) => ended.done.outcome = Err(Failure::new(FailureKind::Violation, error.to_string())),
    }
    ended
}

async fn exchange(
    sandbox: &Process,
    limits: &Limits,
    program: &Program,
    ended: &mut Ended,
) -> Result<(), SandboxError> {
    let mut session = sandbox.open(limits).await?;
    let (mut waiting, mut at) = (Vec::new(), program.started_at);
    let mut step = session.start(program).await?;
    loop {
        ended.printed.append(&mut step.printed);
        match step.state {
            State::Done(done) => {
                ended.done = done;
                return Ok(());
            }
            State::Waiting(calls) => waiting.extend(calls),
        }
        at += 5;
        let answer = programs::answer(&waiting.remove(0), at);
        step = session.resume(vec![answer]).await?;
    }
}

/// Returns the memory of this process, without the pages of its binary, which are read as they are needed.
fn resident_kilobytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().parse().unwrap()
}

/// Returns the number of processes that this one has started and that still exist, if only as zombies.
fn n_children() -> usize {
    let parent = format!("PPid:\t{}\n", std::process::id());
    let all = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    all.filter(|entry| {
        std::fs::read_to_string(entry.path().join("status")).is_ok_and(|status| status.contains(&parent))
    })
    .count()
}
