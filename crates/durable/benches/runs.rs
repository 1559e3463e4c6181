//! The time of a step of a durable run: `cargo bench -p toolkit-durable --bench runs -- [N] [URL]`.
//!
//! N runs of eight steps (by default 1,000) are queued, and then ended by one worker. Without the URL of a Postgres database, the
//! place is a file.

use std::time::{Duration, Instant};

use serde_json::json;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_backends::chain::{Chain, Step};
use toolkit_durable::{Client, Connect, RunFilter, RunId, RunState, Worker};

type Error = Box<dyn std::error::Error + Send + Sync>;

const N_STEPS: usize = 8;

/// Adds one, and may be repeated.
#[tool(read_only)]
async fn increment(n: u64) -> u64 {
    n + 1
}

fn chain() -> Chain {
    let first = Step::new("increment").named("s0").arg("n", json!(0));
    (1..N_STEPS).fold(Chain::new().then(first), |chain, idx| {
        chain.then(Step::new("increment").named(format!("s{idx}")).take("n", format!("s{}", idx - 1), ""))
    })
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let n_runs: usize = arguments.first().map_or(Ok(1_000), |n| n.parse())?;
    let folder = std::env::temp_dir().join(format!("toolkit-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("runs.db");
    let url = arguments.get(1).cloned();
    let connect = Connect::new(url.as_deref().unwrap_or(file.to_str().ok_or("a path without text")?))?;

    let worker = Worker::new(connect.clone(), Dispatcher::new(catalog![increment]?)?);
    let monitor = worker.monitor();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let worker = tokio::spawn(worker.run(async { _ = ended.await }));
    while monitor.status().is_none() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let client = Client::connect(&connect).await?;
    let chain = chain();
    let begun = Instant::now();
    for nth in 0..n_runs {
        client.start(&chain, RunId::new(format!("run-{nth}"))?).await?;
    }
    let queued = begun.elapsed();
    loop {
        let queue = monitor.queue().await?.ok_or("the worker has ended")?;
        if queue.n_queued + queue.n_started == 0 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let took = begun.elapsed();
    let n_finished = client.list(&RunFilter::new().state(RunState::Finished).limit(n_runs)).await?.len();
    assert_eq!(n_finished, n_runs);
    let per_step = |time: Duration| time.as_secs_f64() * 1e6 / (n_runs * N_STEPS) as f64;
    println!("{n_runs} runs of {N_STEPS} steps: started in {queued:.1?}, ended after {took:.1?}");
    println!("{:.0} µs for a step", per_step(took));
    drop(end);
    worker.await??;
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
