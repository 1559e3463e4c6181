//! Programs in the process of the host.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use serde_json::value::to_raw_value;
use toolkit_code::engine::{Answer, Call, Done, Engine, Request, State, Step, Usage};
use toolkit_code::sandbox::{Guarantee, Inline, Sandbox, SandboxError};
use toolkit_code::{FailureKind, Limits, Program};

use super::{in_the_end, until, value};

/// An engine whose program waits for one call, or runs until it is stopped.
struct Waiting {
    stop: Arc<AtomicBool>,
    dropped: Sender<()>,
}

impl Engine for Waiting {
    fn start(&mut self, program: &Program) -> Step {
        match &*program.code {
            "panic" => panic!("the engine panics"),
            "spin" => {
                while !self.stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
            _ => {}
        }
        step(State::Waiting(vec![Call { id: 1, line: None, request: Request::Sleep { ms: 1 } }]))
    }

    fn resume(&mut self, answers: Vec<Answer>) -> Step {
        let outcome = Ok(to_raw_value(&answers[0].id).unwrap());
        step(State::Done(Done { outcome, shown: Vec::new() }))
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let _ = self.dropped.send(());
    }
}

fn step(state: State) -> Step {
    Step { printed: Vec::new(), state, usage: Usage::default() }
}

fn sandbox() -> (Inline, std::sync::mpsc::Receiver<()>) {
    let (dropped, ends) = std::sync::mpsc::channel();
    (Inline::new(move |_, stop| Waiting { stop, dropped: dropped.clone() }), ends)
}

#[tokio::test]
async fn a_program_is_answered_and_done() {
    let (sandbox, _) = sandbox();
    assert_eq!(sandbox.info().kind, "inline");
    let mut session = sandbox.open(&Limits::default()).await.unwrap();
    assert!(!session.enforced().contains(Guarantee::Network));
    let waiting = in_the_end(session.start(&Program::javascript(""))).await.unwrap();
    assert!(matches!(waiting.state, State::Waiting(_)));
    let answer = Answer { id: 1, at: 0, outcome: Ok(to_raw_value(&()).unwrap()), content: None };
    let done = in_the_end(session.resume(vec![answer])).await.unwrap();
    assert_eq!(value(&done), "1");
}

// On one thread, the timer fires only if the program does not run on it.
#[tokio::test(flavor = "current_thread")]
async fn a_program_that_runs_does_not_block_the_executor_and_ends_when_it_is_dropped() {
    let (sandbox, ends) = sandbox();
    let mut session = sandbox.open(&Limits::default()).await.unwrap();
    let started = tokio::time::timeout(Duration::from_millis(20), session.start(&Program::javascript("spin"))).await;
    assert!(started.is_err());
    drop(session);
    ends.recv_timeout(Duration::from_secs(60)).expect("the engine is dropped");
}

#[tokio::test]
async fn a_panic_of_the_engine_is_a_violation() {
    let (sandbox, _) = sandbox();
    let mut session = sandbox.open(&Limits::default()).await.unwrap();
    let error = in_the_end(session.start(&Program::javascript("panic"))).await.unwrap_err();
    assert!(matches!(error, SandboxError::Ended(FailureKind::Violation, _)), "{error:?}");
}

#[tokio::test]
async fn engines_are_prepared_ahead_of_time_and_run_one_program_each() {
    let (sender, dropped) = std::sync::mpsc::channel();
    let created = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&created);
    let sandbox = Inline::new(move |_, stop| {
        counted.fetch_add(1, Ordering::SeqCst);
        Waiting { stop, dropped: sender.clone() }
    });
    let sandbox = sandbox.ready(2);
    let limits = Limits::default();
    for n in 3..=5 {
        let mut session = in_the_end(sandbox.open(&limits)).await.unwrap();
        until(|| created.load(Ordering::SeqCst) == n).await;
        in_the_end(session.start(&Program::javascript(""))).await.unwrap();
        drop(session);
        dropped.recv_timeout(Duration::from_secs(60)).unwrap();
    }
    let other = limits.calls(7);
    drop(in_the_end(sandbox.open(&other)).await.unwrap());
    until(|| created.load(Ordering::SeqCst) == 8).await;
    drop(sandbox);
    for _ in 0..5 {
        dropped.recv_timeout(Duration::from_secs(60)).unwrap();
    }
}
