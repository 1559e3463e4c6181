//! Measures the start of sandboxes: `cargo bench -p toolkit-code --bench latency`.

use std::error::Error;
use std::time::{Duration, Instant};

use serde_json::value::to_raw_value;
use toolkit_code::engine::{Answer, Call, Request, State};
use toolkit_code::sandbox::{Inline, Process, Sandbox};
use toolkit_code::{Limits, Program};

const N: usize = 300;

fn main() -> Result<(), Box<dyn Error>> {
    toolkit_code::worker::init();
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(measure())
}

async fn measure() -> Result<(), Box<dyn Error>> {
    let limits = Limits::default();
    let sandboxes: [(&str, Box<dyn Sandbox>); 2] =
        [("inline", Box::new(Inline::javascript())), ("process, cold", Box::new(Process::new()))];
    for (name, sandbox) in sandboxes {
        let mut times = Vec::new();
        for _ in 0..N {
            times.push(run(&*sandbox, &limits).await?);
        }
        report(name, times);
        report(&format!("{name}, a call"), calls(&*sandbox, &limits).await?);
    }

    let ready: [(&str, Box<dyn Sandbox>); 2] = [
        ("inline, ready", Box::new(Inline::javascript().ready(1))),
        ("process, ready", Box::new(Process::new().ready(1))),
    ];
    for (name, sandbox) in ready {
        run(&*sandbox, &limits).await?;
        let mut times = Vec::new();
        for _ in 0..N {
            // The next one is prepared meanwhile.
            tokio::time::sleep(Duration::from_millis(40)).await;
            times.push(run(&*sandbox, &limits).await?);
        }
        report(name, times);
    }

    let sandbox = Process::new().ready(64);
    sandbox.prepare(&limits).await?;
    let all = futures_util::future::join_all((0..64).map(|_| run(&sandbox, &limits))).await;
    report("64 at once, ready", all.into_iter().collect::<Result<_, _>>()?);
    drop(sandbox);

    let sandbox = Process::new().ready(1);

    sandbox.prepare(&limits).await?;
    for process in children()?.into_iter().take(1) {
        println!("memory of a ready worker: {process}");
    }
    Ok(())
}

/// Returns the time from the request for a sandbox to the result of a program.
async fn run(sandbox: &dyn Sandbox, limits: &Limits) -> Result<Duration, Box<dyn Error>> {
    let start = Instant::now();
    let mut session = sandbox.open(limits).await?;
    let step = session.start(&Program::javascript("return 1")).await?;
    let time = start.elapsed();
    assert!(matches!(step.state, State::Done(_)), "{step:?}");
    Ok(time)
}

/// Returns the times of calls of one program, without those of their tools.
async fn calls(sandbox: &dyn Sandbox, limits: &Limits) -> Result<Vec<Duration>, Box<dyn Error>> {
    let mut program = Program::javascript("for (let i = 0; i < 300; i++) await tools.a.b({ a: i })");
    program.functions.insert("a.b".to_owned(), "a:b".to_owned());
    let mut session = sandbox.open(limits).await?;
    let mut step = session.start(&program).await?;
    let mut times = Vec::new();
    while let State::Waiting(calls) = &step.state {
        let [Call { id, request: Request::RunTool { .. }, .. }] = calls[..] else { return Err("one call".into()) };
        let answer = Answer { id, at: 0, outcome: Ok(to_raw_value(&1)?), content: None };
        let start = Instant::now();
        step = session.resume(vec![answer]).await?;
        times.push(start.elapsed());
    }
    Ok(times)
}

/// Returns the resident and private memory of the processes that this one has started.
fn children() -> Result<Vec<String>, Box<dyn Error>> {
    let parent = format!("PPid:\t{}\n", std::process::id());
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let status = std::fs::read_to_string(path.join("status")).unwrap_or_default();
        if status.contains(&parent) {
            let memory = ["VmRSS", "RssAnon"].map(|name| status.lines().find(|line| line.starts_with(name)));
            let memory: Vec<&str> = memory.into_iter().flatten().collect();
            // A process that has ended has none.
            if !memory.is_empty() {
                found.push(memory.join(", "));
            }
        }
    }
    Ok(found)
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let last = times[(times.len() * 99).div_ceil(100) - 1];
    println!("{name}: least {:?}, median {:?}, p99 {last:?}", times[0], times[times.len() / 2]);
}
