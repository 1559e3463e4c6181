//! A worker of durable runs whose tools write to a file what they do: `fixture_durable PLACE [OPTION]…`.
//!
//! | option | meaning |
//! |---|---|
//! | `no_guard` | effects are not guarded |
//! | `approve` | calls of destructive tools are approved by a person |
//! | `release=NAME` | the name of a tool, so that the version of the tools differs |
//! | `timeout_ms=N` | the time that a step waits for a decision |
//! | `max_runs=N` | the number of runs that the worker takes |
//! | `takeover_ms=N` | the time for which a worker must be silent; by default a second |
//!
//! `fixture_durable PLACE runs=N` starts N runs instead, and waits for them.
//!
//! While the file `FIXTURE_DIARY.repaired` does not exist, the tools `busy` and `broken` fail.
//!
//! `FIXTURE_DIARY` names the file. Each line is written at once, so that it survives the death of the process.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use toolkit::{Catalog, Context, Dispatcher, Tool, ToolError, tool};
use toolkit_backends::chain::{Chain, Step};
use toolkit_durable::{Client, Connect, RunId, Worker, run_child};
use toolkit_tower::Approval;

static DIARY: LazyLock<File> = LazyLock::new(|| {
    let path = std::env::var("FIXTURE_DIARY").expect("FIXTURE_DIARY");
    OpenOptions::new().create(true).append(true).open(path).expect("the diary can be opened")
});

static RELEASE: LazyLock<String> = LazyLock::new(|| {
    let release = std::env::args().find_map(|argument| argument.strip_prefix("release=").map(str::to_owned));
    release.unwrap_or_else(|| "first".to_owned())
});

/// Writes `EVENT KIND RUN/STEP PID RELEASE`.
fn note(event: &str, kind: &str, ctx: &Context) {
    let key = ctx.step().map_or_else(|| "none".to_owned(), |step| step.key());
    let line = format!("{event} {kind} {key} {} {}\n", std::process::id(), *RELEASE);
    (&*DIARY).write_all(line.as_bytes()).expect("the diary can be written");
}

/// A call that has started. Dropping it writes that it was cancelled, unless it has ended.
struct Started<'c> {
    kind: &'static str,
    ctx: &'c Context,
    has_ended: bool,
}

impl Drop for Started<'_> {
    fn drop(&mut self) {
        note(if self.has_ended { "end" } else { "cancelled" }, self.kind, self.ctx);
    }
}

async fn work(kind: &'static str, n: u64, ms: u64, ctx: &Context) -> u64 {
    note("start", kind, ctx);
    let mut started = Started { kind, ctx, has_ended: false };
    tokio::time::sleep(Duration::from_millis(ms)).await;
    started.has_ended = true;
    n + 1
}

/// Adds one, with an effect that must not be repeated.
#[tool(namespace = "diary")]
async fn once(n: u64, ms: u64, ctx: &Context) -> u64 {
    work("once", n, ms, ctx).await
}

/// Adds one, and may be repeated.
#[tool(namespace = "diary", idempotent, destructive = false)]
async fn repeatable(n: u64, ms: u64, ctx: &Context) -> u64 {
    work("repeatable", n, ms, ctx).await
}

/// Adds one, after a person has approved it.
#[tool(namespace = "diary", destructive)]
async fn approved(n: u64, ms: u64, ctx: &Context) -> u64 {
    work("approved", n, ms, ctx).await
}

/// Fails.
#[tool(namespace = "diary", read_only)]
async fn fail(message: String, ctx: &Context) -> Result<u64, ToolError> {
    note("start", "fail", ctx);
    Err(ToolError::failed(message))
}

fn is_repaired() -> bool {
    std::env::var("FIXTURE_DIARY").is_ok_and(|diary| std::path::Path::new(&format!("{diary}.repaired")).exists())
}

/// Adds one, unless it is overloaded.
#[tool(namespace = "diary")]
async fn busy(n: u64, ctx: &Context) -> Result<u64, ToolError> {
    match is_repaired() {
        true => Ok(work("busy", n, 0, ctx).await),
        false => Err(ToolError::new(toolkit::call::ErrorKind::Overloaded, "too many calls")),
    }
}

/// Adds one, unless it is broken.
#[tool(namespace = "diary")]
async fn broken(n: u64, ctx: &Context) -> Result<u64, ToolError> {
    note("start", "broken", ctx);
    if is_repaired() { Ok(n + 1) } else { Err(ToolError::failed("no connection to the bank")) }
}

/// Adds one, at the third call of a step.
#[tool(namespace = "diary", idempotent)]
async fn flaky(n: u64, ctx: &Context) -> Result<u64, ToolError> {
    note("start", "flaky", ctx);
    let attempt = ctx.step().map_or(0, |step| step.attempt());
    if attempt >= 3 { Ok(n + 1) } else { Err(ToolError::failed("try again").retryable(None)) }
}

/// Adds one to the result of a child run.
#[tool(namespace = "diary", idempotent)]
async fn parent(chain: serde_json::Value, ctx: &Context) -> Result<u64, ToolError> {
    note("start", "parent", ctx);
    let chain = Chain::from_json(chain.to_string()).map_err(|error| ToolError::failed(error.to_string()))?;
    let result = run_child(ctx, "child", &chain).await?.into_result()?;
    let value = result.and_then(|result| result.value().as_u64());
    value.map(|n| n + 1).ok_or_else(|| ToolError::failed("the child has no number"))
}

/// Ends the process.
#[tool(namespace = "diary", idempotent)]
async fn crash(ctx: &Context) -> u64 {
    note("start", "crash", ctx);
    std::process::abort()
}

/// Starts runs, of which every second one is parallel, and waits for them.
async fn runs(connect: Connect, n: usize) -> Result<(), Box<dyn std::error::Error>> {
    let client = Client::connect(&connect).await?;
    let mut runs = Vec::new();
    for nth in 0..n {
        runs.push(client.start(&mixed(nth), RunId::new(format!("run-{nth}"))?).await?);
    }
    for run in runs {
        run.wait().await?;
    }
    Ok(())
}

/// Returns the chain of a run: 8 steps, each of which adds one to an earlier result.
fn mixed(nth: usize) -> Chain {
    let is_parallel = !nth.is_multiple_of(2);
    let chain = if is_parallel { Chain::parallel() } else { Chain::new() };
    (0..8).fold(chain, |chain, idx| {
        let tool = if (nth / 2 + idx).is_multiple_of(2) { "diary:once" } else { "diary:repeatable" };
        let step = Step::new(tool).named(format!("s{idx}")).arg("ms", 300 + 100 * (idx % 3));
        let source = if is_parallel { idx.checked_sub(4) } else { idx.checked_sub(1) };
        chain.then(match source {
            Some(source) => step.take("n", format!("s{source}"), ""),
            None => step.arg("n", 0),
        })
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let connect = Connect::new(&arguments.next().ok_or("usage: fixture_durable PLACE")?)?.application("fixture");
    let (mut approves, mut is_guarded, mut timeout, mut takeover) = (false, true, None, Duration::from_secs(1));
    let mut max_runs = 100;
    for argument in arguments {
        match argument.split_once('=') {
            None if argument == "no_guard" => is_guarded = false,
            None if argument == "approve" => approves = true,
            Some(("release", _)) => {}
            Some(("runs", n)) => return runs(connect, n.parse()?).await,
            Some(("max_runs", n)) => max_runs = n.parse()?,
            Some(("takeover_ms", ms)) => takeover = Duration::from_millis(ms.parse()?),
            Some(("timeout_ms", ms)) => timeout = Some(Duration::from_millis(ms.parse()?)),
            _ => return Err(format!("no option `{argument}`").into()),
        }
    }
    let release = Tool::builder(format!("release_{}", *RELEASE)).build()?;
    let catalog = Catalog::new(Catalog::linked()?.iter().cloned().chain([release]))?;
    let mut dispatcher = Dispatcher::builder(catalog);
    if approves {
        dispatcher = dispatcher.layer(Approval::ask_caller().when(|tool| tool.annotations().destructive == Some(true)));
    }
    let mut worker = Worker::new(connect, dispatcher.build()?).takeover_after(takeover).max_runs(max_runs);
    if !is_guarded {
        worker = worker.without_guard();
    }
    if let Some(timeout) = timeout {
        worker = worker.decision_timeout(timeout);
    }
    worker.run_until_signal().await?;
    Ok(())
}
