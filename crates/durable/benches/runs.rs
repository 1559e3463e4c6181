//! The time of a step of a durable run: `cargo bench -p toolkit-durable --bench runs -- [N | idle] [URL]`.
//!
//! N runs of eight steps (by default 1,000) are queued, and then ended by one worker. With `idle`, 1,000 runs wait for a time, and
//! the processor time of their worker in a minute is measured. Without the URL of a Postgres database, the place is a file.

use std::time::{Duration, Instant};

use serde_json::json;
use toolkit::{Dispatcher, catalog, tool};
use toolkit_backends::chain::{Chain, Step};
use toolkit_durable::{Client, Connect, DurableError, Monitor, RunFilter, RunId, RunState, Worker};

type Error = Box<dyn std::error::Error + Send + Sync>;

const N_STEPS: usize = 8;

/// The number of runs that wait.
const N_WAITING: usize = 1_000;

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

/// A worker of this process.
struct RunningWorker {
    monitor: Monitor,
    end: tokio::sync::oneshot::Sender<()>,
    task: tokio::task::JoinHandle<Result<(), DurableError>>,
}

impl RunningWorker {
    async fn start(connect: &Connect) -> Result<Self, Error> {
        let worker = Worker::new(connect.clone(), Dispatcher::new(catalog![increment]?)?);
        let monitor = worker.monitor();
        let (end, ended) = tokio::sync::oneshot::channel::<()>();
        let task = tokio::spawn(worker.run(async { _ = ended.await }));
        while monitor.status().is_none() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(Self { monitor, end, task })
    }

    /// Waits until a number of runs that this worker may take is left.
    async fn until(&self, holds: impl Fn(u64, u64) -> bool) -> Result<(), Error> {
        loop {
            let queue = self.monitor.queue().await?.ok_or("the worker has ended")?;
            if holds(queue.n_queued, queue.n_started) {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }

    async fn end(self) -> Result<(), Error> {
        drop(self.end);
        Ok(self.task.await??)
    }
}

async fn start(client: &Client, chain: &Chain, n_runs: usize) -> Result<(), Error> {
    for nth in 0..n_runs {
        client.start(chain, RunId::new(format!("run-{nth}"))?).await?;
    }
    Ok(())
}

async fn throughput(connect: &Connect, n_runs: usize) -> Result<(), Error> {
    // Creates the tables.
    RunningWorker::start(connect).await?.end().await?;
    let client = Client::connect(connect).await?;
    let begun = Instant::now();
    start(&client, &chain(), n_runs).await?;
    let queued = begun.elapsed();
    let (begun, begun_at) = (Instant::now(), jiff::Timestamp::now());
    let worker = RunningWorker::start(connect).await?;
    worker.until(|n_queued, n_started| n_queued + n_started == 0).await?;
    let took = begun.elapsed();
    let finished = client.list(&RunFilter::new().state(RunState::Finished).limit(n_runs)).await?;
    assert_eq!(finished.len(), n_runs);
    let per_step = |seconds: f64, n_runs: usize| seconds * 1e6 / (n_runs * N_STEPS) as f64;
    println!("{n_runs} runs of {N_STEPS} steps: queued in {queued:.1?}, ended after {took:.1?}");
    println!("{:.0} µs for a step", per_step(took.as_secs_f64(), n_runs));
    let mut ends: Vec<f64> = finished.iter().map(|run| run.changed.duration_since(begun_at).as_secs_f64()).collect();
    ends.sort_by(f64::total_cmp);
    let part = n_runs.min(1_000);
    let last = ends[n_runs - 1] - if n_runs > part { ends[n_runs - part - 1] } else { 0.0 };
    println!(
        "{:.0} µs for a step of the first {part} runs, {:.0} µs of the last",
        per_step(ends[part - 1], part),
        per_step(last, part)
    );
    worker.end().await
}

/// Returns the processor time of this process in seconds.
fn processor_time() -> Result<f64, Error> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let fields = stat.rsplit_once(')').ok_or("no process")?.1.split_whitespace();
    let ticks: Vec<f64> = fields.skip(11).take(2).map(str::parse).collect::<Result<_, _>>()?;
    // Linux counts in hundredths of a second.
    Ok(ticks.iter().sum::<f64>() / 100.0)
}

async fn idle(connect: &Connect) -> Result<(), Error> {
    const MINUTE: Duration = Duration::from_secs(60);
    let worker = RunningWorker::start(connect).await?;
    let client = Client::connect(connect).await?;
    let step = Step::new("increment").arg("n", 0).sleep(Duration::from_secs(3_600));
    start(&client, &Chain::new().then(step), N_WAITING).await?;
    worker.until(|n_queued, n_started| n_queued == 0 && n_started == N_WAITING as u64).await?;
    // The waits are recorded.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let before = processor_time()?;
    tokio::time::sleep(MINUTE).await;
    let share = (processor_time()? - before) / MINUTE.as_secs_f64();
    println!("{N_WAITING} runs wait: {:.2} % of a core", 100.0 * share);
    worker.end().await
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let folder = std::env::temp_dir().join(format!("toolkit-runs-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let file = folder.join("runs.db");
    let url = arguments.get(1).cloned();
    let connect = Connect::new(url.as_deref().unwrap_or(file.to_str().ok_or("a path without text")?))?;
    match arguments.first().map(String::as_str) {
        Some("idle") => idle(&connect).await?,
        n_runs => throughput(&connect, n_runs.map_or(Ok(1_000), str::parse)?).await?,
    }
    let _ = std::fs::remove_dir_all(&folder);
    Ok(())
}
