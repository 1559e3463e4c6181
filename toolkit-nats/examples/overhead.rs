//! Compares calls of a tool over NATS with bare requests: the CPU time of caller and worker together, and the latency.
//!
//! `cargo run --release -p toolkit-nats --example overhead -- nats://localhost` needs a NATS server and Linux. Both kinds of
//! calls alternate in one process, so that their ratio does not depend on what else the machine does.

use std::error::Error;
use std::time::{Duration, Instant};

use futures_util::StreamExt;
use toolkit::backend::Backends;
use toolkit::{Catalog, Dispatcher, tool};
use toolkit_nats::{Connect, NatsBackend, Worker};

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
    Bare(async_nats::Client),
    Toolkit(Dispatcher),
}

impl Caller {
    async fn call(&self, arguments: &str) -> Result<usize, Box<dyn Error + Send + Sync>> {
        match self {
            Self::Bare(client) => Ok(client.request("bare.echo", arguments.to_owned().into()).await?.payload.len()),
            Self::Toolkit(dispatcher) => {
                Ok(dispatcher.call("fleet:echo", arguments).await?.json().map_or(0, <[u8]>::len))
            }
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error + Send + Sync>> {
    let url = std::env::args().nth(1).ok_or("usage: overhead URL")?;
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
    let backend = NatsBackend::new("fleet", Connect::new(&url)?);
    while backend.members().await?.is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let backends = Backends::new();
    backends.register(backend)?;
    let collected = backends.collect(Catalog::new([])?).await;
    let dispatcher = Dispatcher::builder(collected.catalog).routes(collected.routes).build()?;
    let callers = [Caller::Bare(async_nats::connect(&url).await?), Caller::Toolkit(dispatcher)];

    println!("| in flight | | CPU of a call | ratio | p50 | p99 |");
    println!("|---|---|---:|---:|---:|---:|");
    for n_in_flight in [1, 64] {
        let n_calls = 2_000;
        for caller in &callers {
            round(caller, n_in_flight, n_calls).await?;
        }
        let (mut cpu, mut latencies) = ([Duration::ZERO; 2], [Vec::new(), Vec::new()]);
        for _ in 0..N_ROUNDS {
            for (nth, caller) in callers.iter().enumerate() {
                let before = cpu_time()?;
                latencies[nth].extend(round(caller, n_in_flight, n_calls).await?);
                cpu[nth] += cpu_time()? - before;
            }
        }
        for (nth, name) in ["bare request", "call of a tool"].into_iter().enumerate() {
            let times = &mut latencies[nth];
            times.sort_unstable();
            let each = cpu[nth] / u32::try_from(times.len())?;
            let ratio = cpu[nth].as_secs_f64() / cpu[0].as_secs_f64();
            let at = |percent: usize| times[times.len() * percent / 100];
            println!("| {n_in_flight} | {name} | {each:.1?} | {ratio:.2} | {:.0?} | {:.0?} |", at(50), at(99));
        }
    }
    Ok(())
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
