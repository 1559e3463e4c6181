//! A worker whose programs are attempts to escape: an engine that was taken over.
//!
//! A program is the name of one of [`attempts::ATTEMPTS`], whose system calls it makes, or of one of the deeds below.
//! Its value is the result of the last system call.

#[cfg(target_os = "linux")]
mod attempts;
mod hostile;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use serde_json::value::to_raw_value;
use toolkit_code::engine::{Answer, Call, Done, Engine, Request, State, Step, Usage};
use toolkit_code::sandbox::{Process, Sandbox};
use toolkit_code::{Failure, FailureKind, Limits, Program};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if arguments.first() == Some(&"threads") {
        std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_secs(60)));
    }
    if arguments.first() != Some(&"forgetful") {
        toolkit_code::worker::init();
    }
    match arguments[..] {
        #[cfg(target_os = "linux")]
        ["list"] => attempts::ATTEMPTS.iter().for_each(|(name, _)| println!("{name}")),
        ["javascript", ..] => toolkit_code::worker::run(toolkit_code::engine::JavaScript::new),
        ["host" | "forgetful", code] => host(code),
        ["hostile"] => all_hostile(),
        _ => toolkit_code::worker::run(Native::new),
    }
}

/// Runs a program in JavaScript in this program, started again.
#[tokio::main(flavor = "current_thread")]
async fn host(code: &str) {
    let sandbox = Process::new();
    match sandbox.open(&Limits::default()).await {
        Ok(mut session) => match session.start(&Program::javascript(code)).await.map(|step| step.state) {
            Ok(State::Done(Done { outcome: Ok(value), .. })) => println!("{value}"),
            other => println!("{other:?}"),
        },
        Err(error) => println!("{error}"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn all_hostile() {
    println!("{}", hostile::run().await);
}

struct Native;

impl Native {
    fn new(_: Limits, _: Arc<AtomicBool>) -> Self {
        Self
    }
}

impl Engine for Native {
    fn start(&mut self, program: &Program) -> Step {
        let result = match &*program.code {
            "wait" => {
                let args = to_raw_value(&1).unwrap();
                let request = Request::RunTool { id: "a".to_owned(), args };
                return step(State::Waiting(vec![Call { id: 1, line: None, request }]));
            }
            "large" => Ok("x".repeat(1_000_000).len() as i64),
            "spin" => loop {
                std::hint::black_box(0);
            },
            "blocks" => allocate(1 << 20),
            "pieces" => allocate(64),
            "recursion" => Ok(recurse(1)),
            "panic" => panic!("the engine panics"),
            "exit" => std::process::exit(3),
            "flood" => loop {
                eprintln!("a line of errors");
            },
            #[cfg(target_os = "linux")]
            name => attempts::attempt(name).ok_or_else(|| format!("there is no attempt {name}")),
            #[cfg(not(target_os = "linux"))]
            name => Err(format!("there is no attempt {name}")),
        };
        let outcome = result.map(|result| to_raw_value(&result).unwrap());
        let outcome = outcome.map_err(|error| Failure::new(FailureKind::Exception, error));
        step(State::Done(Done { outcome, shown: Vec::new() }))
    }

    fn resume(&mut self, answers: Vec<Answer>) -> Step {
        let outcome = Ok(to_raw_value(&answers.len()).unwrap());
        step(State::Done(Done { outcome, shown: Vec::new() }))
    }
}

fn step(state: State) -> Step {
    Step { printed: Vec::new(), state, usage: Usage::default() }
}

/// Allocates without end.
fn allocate(size: usize) -> Result<i64, String> {
    let mut kept = Vec::new();
    loop {
        kept.push(vec![1_u8; size]);
        std::hint::black_box(&kept);
    }
}

/// Calls itself without end.
#[expect(unconditional_recursion)]
fn recurse(depth: i64) -> i64 {
    let frame = [depth; 64];
    std::hint::black_box(&frame);
    recurse(depth + 1) + frame[0]
}
