//! Compares calls of a tool over NATS with bare requests: the CPU time of caller and worker together, and the latency.
//!
//! `cargo bench -p toolkit-nats --bench call_overhead -- nats://localhost` needs a NATS server with JetStream and Linux. All
//! kinds of calls alternate in one process, so that their ratios do not depend on what else the machine does:
//!
//! - a bare request of the NATS client, whose handler runs on a thread that does I/O;
//! - the floor: a bare request whose handler passes the arguments to a dispatcher on a thread for tools, as every handler must
//!   that may block and validates;
//! - a call of a tool;
//! - a call that a worker claims first, with two more round trips to the server.

use std::error::Error;
use std::time::{Duration, Instant};

use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt};
use toolkit::{Catalog, Dispatcher, tool};
use toolkit_backends::Backends;
use toolkit_nats::{Buckets, Connect, NatsBackend, RetryPolicy, Worker};
use toolkit_runtime::spawn_tool;

/// Returns a text unchanged.
#[tool]
fn echo(text: String) -> String {
    text
}

const N_ROUNDS: usize = 20;
/// The size of a text in bytes.
const SIZE: usize = 1024;

#[derive(Clone)]
enum Caller {
    /// A client, and the subject of the handler.
    Bare(async_nats::Client, &'static str),
    Toolkit(Dispatcher),
}

const NAMES: [&str; 4] = ["bare request", "floor", "call of a tool", "claimed call"];

impl Caller {
    async fn call(&self, arguments: &str) -> Result<usize, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Bare(client, subject) => {
                Ok(client.request(*subject, arguments.to_owned().into()).await?.payload.len())
            }
            Self::Toolkit(dispatcher) => {
                Ok(dispatcher.call("fleet:echo", arguments).await?.json().map_or(0, <[u8]>::len))
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = std::env::args()
        .skip(1)
        .find(|argument| argument != "--bench")
        .ok_or("the URL of the NATS server is missing")?;
    let worker = Worker::new(Connect::new(&url)?, Dispatcher::new(Catalog::linked()?)?);
    tokio::spawn(worker.run(std::future::pending()));
    let bare = async_nats::connect(&url).await?;
    let mut requests = bare.queue_subscribe("bare.echo", "q".to_owned()).await?;
    let replies = bare.clone();
    tokio::spawn(async move {
        while let Some(request) = requests.next().await {
            let Some(reply) = request.reply else { continue };
            let body: serde_json::Value = serde_json::from_slice(&request.payload).unwrap_or_default();
            let _ = replies.publish(reply, body["text"].to_string().into()).await;
        }
    });
    let mut requests = bare.queue_subscribe("floor.echo", "q".to_owned()).await?;
    let (replies, tools) = (bare.clone(), Dispatcher::new(Catalog::linked()?)?);
    tokio::spawn(async move {
        // Dropping the handle of a task cancels it.
        let mut tasks = FuturesUnordered::new();
        while let Some(request) = requests.next().await {
            let Some(reply) = request.reply else { continue };
            let (replies, tools) = (replies.clone(), tools.clone());
            tasks.push(spawn_tool("call", async move {
                if let Ok(result) = tools.call("echo", &request.payload[..]).await {
                    let _ = replies.publish(reply, result.into_json().into()).await;
                }
            }));
            while tasks.next().now_or_never().flatten().is_some() {}
        }
    });
    let backend = NatsBackend::new("fleet", Connect::new(&url)?);
    while backend.members().await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Buckets::new(Connect::new(&url)?).create().await?;
    let client = async_nats::connect(&url).await?;
    let callers = [
        Caller::Bare(client.clone(), "bare.echo"),
        Caller::Bare(client, "floor.echo"),
        Caller::Toolkit(dispatcher(backend.clone()).await?),
        Caller::Toolkit(dispatcher(backend.retry(RetryPolicy::Claimed)).await?),
    ];

    println!("| in flight | | CPU of a call | to a bare request | to the floor | p50 | p99 |");
    println!("|---|---|---:|---:|---:|---:|---:|");
    for n_in_flight in [1, 64] {
        let n_calls = 2_000;
        for caller in &callers {
            round(caller, n_in_flight, n_calls).await?;
        }
        let (mut cpu, mut latencies) = ([Duration::ZERO; NAMES.len()], [const { Vec::new() }; NAMES.len()]);
        for _ in 0..N_ROUNDS {
            for (nth, caller) in callers.iter().enumerate() {
                let before = cpu_time()?;
                latencies[nth].extend(round(caller, n_in_flight, n_calls).await?);
                cpu[nth] += cpu_time()? - before;
            }
        }
        for (nth, name) in NAMES.into_iter().enumerate() {
            let times = &mut latencies[nth];
            times.sort_unstable();
            let each = cpu[nth] / u32::try_from(times.len())?;
            let [to_bare, to_floor] = [0, 1].map(|base| cpu[nth].as_secs_f64() / cpu[base].as_secs_f64());
            let at = |percent: usize| times[times.len() * percent / 100];
            println!(
                "| {n_in_flight} | {name} | {each:.1?} | {to_bare:.2} | {to_floor:.2} | {:.0?} | {:.0?} |",
                at(50),
                at(99)
            );
        }
    }
    Ok(())
}

async fn dispatcher(backend: NatsBackend) -> Result<Dispatcher, Box<dyn Error + Send + Sync>> {
    let backends = Backends::new();
    backends.register(backend)?;
    let collected = backends.collect(Catalog::new([])?).await;
    Ok(Dispatcher::builder(collected.catalog).routes(collected.routes).build()?)
}

/// Makes some calls and returns the time that each took.
async fn round(
    caller: &Caller,
    n_in_flight: usize,
    n_calls: usize,
) -> Result<Vec<Duration>, Box<dyn Error + Send + Sync>> {
    let arguments = serde_json::json!({ "text": "x".repeat(SIZE) }).to_string();
    let tasks = (0..n_in_flight).map(|_| {
        let (caller, arguments) = (caller.clone(), arguments.clone());
        tokio::spawn(async move {
            let mut times = Vec::new();
            for _ in 0..n_calls / n_in_flight {
                let started = Instant::now();
                assert_eq!(caller.call(&arguments).await?, SIZE + 2);
                times.push(started.elapsed());
            }
            Ok::<_, Box<dyn Error + Send + Sync>>(times)
        })
    });
    let mut times = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        times.extend(task.await??);
    }
    Ok(times)
}

/// Returns the CPU time of this process.
fn cpu_time() -> Result<Duration, Box<dyn Error + Send + Sync>> {
    // The scheduler counts nanoseconds for each thread; `/proc/self/stat` has ticks of 10 ms.
    let mut nanos = 0;
    for thread in std::fs::read_dir("/proc/self/task")? {
        let text = std::fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
        nanos += text.split(' ').next().and_then(|nanos| nanos.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanos))
}
