//! A worker whose tools write to a file what they do: `fixture_nats URL [max_calls=N] [beat_ms=N] [shutdown_ms=N]`.
//!
//! `fixture_nats URL calls=N` calls `diary:record` N times at once instead, and waits.
//!
//! `FIXTURE_DIARY` names the file. Each line is written at once, so that it survives the death of the process.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

use toolkit::call::TraceContext;
use toolkit::{Catalog, Chunks, Context, Dispatcher, tool};
use toolkit_backends::Backends;
use toolkit_nats::{Connect, NatsBackend, Worker, WorkerLimits};

static DIARY: LazyLock<File> = LazyLock::new(|| {
    let path = std::env::var("FIXTURE_DIARY").expect("FIXTURE_DIARY");
    OpenOptions::new().create(true).append(true).open(path).expect("the diary can be opened")
});

fn note(event: &str, id: u64) {
    (&*DIARY).write_all(format!("{event} {id} {}\n", std::process::id()).as_bytes()).expect("the diary can be written");
}

/// A call that has started. Dropping it writes that it was cancelled, unless it has ended.
struct Started {
    id: u64,
    has_ended: bool,
}

impl Drop for Started {
    fn drop(&mut self) {
        note(if self.has_ended { "end" } else { "cancelled" }, self.id);
    }
}

/// Writes the id of the call, waits, and writes it again.
#[tool(namespace = "diary")]
async fn record(id: u64, ms: u64) -> u64 {
    note("start", id);
    let mut started = Started { id, has_ended: false };
    tokio::time::sleep(Duration::from_millis(ms)).await;
    started.has_ended = true;
    id
}

/// Does the same, and may be repeated.
#[tool(namespace = "diary", idempotent)]
async fn repeatable(id: u64, ms: u64) -> u64 {
    record(id, ms).await
}

/// Writes the trace context of the call.
#[tool(namespace = "diary")]
fn trace(id: u64, ctx: &Context) {
    let trace = ctx.get::<TraceContext>().cloned().unwrap_or_default();
    let line =
        format!("trace {id} {} {} {}\n", std::process::id(), trace.traceparent, trace.tracestate.unwrap_or_default());
    (&*DIARY).write_all(line.as_bytes()).expect("the diary can be written");
}

/// Counts up, and pads each item to some size.
#[tool(namespace = "diary")]
fn count_up(id: u64, n: u64, padding: usize) -> Chunks<String> {
    note("start", id);
    Chunks::from_items((0..n).map(move |item| format!("{item}{}", " ".repeat(padding))))
}

#[tokio::main]
pub(crate) async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let connect = Connect::new(&std::env::args().nth(1).ok_or("a URL is required")?)?;
    let arguments = std::env::args().skip(2);
    let mut limits = WorkerLimits::default();
    for argument in arguments {
        let (name, number) = argument.split_once('=').ok_or("an option is NAME=NUMBER")?;
        let number: u64 = number.parse()?;
        match name {
            "calls" => return calls(connect, number).await,
            "max_calls" => limits.max_calls = number.try_into()?,
            "beat_ms" => limits.beat = Duration::from_millis(number),
            "shutdown_ms" => limits.shutdown_timeout = Duration::from_millis(number),
            _ => return Err(format!("no option `{name}`").into()),
        }
    }
    Worker::new(connect, Dispatcher::new(Catalog::linked()?)?).limits(limits).run_until_signal().await?;
    Ok(())
}

/// Makes calls that do not end.
async fn calls(connect: Connect, n_calls: u64) -> Result<(), Box<dyn std::error::Error>> {
    let backends = Backends::new();
    backends.register(NatsBackend::new("fleet", connect))?;
    let collected = backends.collect(Catalog::new([])?).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    let calls = (0..n_calls).map(|id| {
        let dispatcher = dispatcher.clone();
        let arguments = serde_json::json!({ "id": id, "ms": 600_000 });
        tokio::spawn(async move { dispatcher.call("diary:record", arguments).await.map(drop) })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await??;
    }
    Ok(())
}
