//! Measures a large fleet: the server, and the time in which callers learn of changes.
//!
//! `cargo bench -p toolkit-nats --bench growth -- [WORKERS] [TOOLS] [CALLERS]` starts a NATS server of its own, which must
//! be installed, simulates workers in another process, and prints a table. It needs Linux. By default there are 1,000 workers
//! with ten different toolsets of 10,000 tools, and 20 callers.

mod server;
mod workers;

use std::error::Error;
use std::time::{Duration, Instant};

use toolkit::backend::Backend;
use toolkit::{Catalog, Dispatcher};
use toolkit_backends::Backends;
use toolkit_nats::{Connect, NatsBackend};

use self::server::{Server, limited};
use self::workers::{N_NAMESPACES, N_TOOLSETS};

type Failure = Box<dyn Error + Send + Sync>;

/// The time over which the traffic of a fleet without changes is measured: two intervals of requests to all workers.
const STEADY: Duration = Duration::from_secs(30);

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let [command, url, n_workers, n_tools] = &arguments[..]
        && command == "workers"
    {
        return workers::run(url, n_workers.parse()?, n_tools.parse()?).await;
    }
    let number = |nth: usize, default: usize| arguments.get(nth).map_or(Ok(default), |text| text.parse());
    let (n_workers, n_tools, n_callers) = (number(0, 1_000)?, number(1, 10_000)?, number(2, 20)?);
    let server = Server::start()?;
    println!("| | measured |\n|---|---|");
    let row = |what: &str, measured: String| println!("| {what} | {measured} |");
    let mib = |n_bytes: u64| format!("{:.1} MiB", n_bytes as f64 / f64::from(1 << 20));
    row("server alone", mib(server.memory()?));

    let (started, cpu) = (Instant::now(), server.cpu()?);
    let numbers = [n_workers.to_string(), n_tools.to_string()];
    let mut fleet = limited(&std::env::current_exe()?.display().to_string())
        .args(["workers", &server.url(), &numbers[0], &numbers[1]])
        .stdin(std::process::Stdio::piped())
        .spawn()?;
    let observer = async_nats::connect(server.url()).await?;
    let mut ready = observer.subscribe("growth.ready").await?;
    futures_util::StreamExt::next(&mut ready).await;
    row(
        &format!("server with {n_workers} workers"),
        format!(
            "{}, {:.1} s of CPU in {:.1} s",
            mib(server.memory()?),
            (server.cpu()? - cpu).as_secs_f64(),
            started.elapsed().as_secs_f64()
        ),
    );

    // One caller that wants everything.
    let before = (server.sent().await?, memory()?);
    let started = Instant::now();
    let everything = NatsBackend::new("fleet", Connect::new(&server.url())?);
    let learned = learn(&everything, n_workers, N_TOOLSETS * n_tools).await?;
    row(
        &format!("one caller learns {} tools", N_TOOLSETS * n_tools),
        format!(
            "workers after {:.1} s, tools after {:.1} s; {} sent; {} of memory",
            learned.as_secs_f64(),
            started.elapsed().as_secs_f64(),
            mib(server.sent().await? - before.0),
            mib(memory()?.saturating_sub(before.1))
        ),
    );
    everything.stop().await?;
    drop(everything);

    // Callers of one namespace each.
    let before = (server.sent().await?, memory()?, server.cpu()?);
    let started = Instant::now();
    let callers: Vec<NatsBackend> = (0..n_callers)
        .map(|nth| {
            let only = [format!("space{}", nth % N_NAMESPACES)];
            Ok(NatsBackend::new("fleet", Connect::new(&server.url())?).only(only))
        })
        .collect::<Result<_, Failure>>()?;
    let n_each = N_TOOLSETS * n_tools / N_NAMESPACES;
    for caller in &callers {
        learn(caller, n_workers, n_each).await?;
    }
    row(
        &format!("{n_callers} callers learn {n_each} tools each"),
        format!(
            "{:.1} s; {} sent; {} of memory for all",
            started.elapsed().as_secs_f64(),
            mib(server.sent().await? - before.0),
            mib(memory()?.saturating_sub(before.1))
        ),
    );

    let (sent, messages, cpu) = (server.sent().await?, server.sent_messages().await?, server.cpu()?);
    tokio::time::sleep(STEADY).await;
    let seconds = STEADY.as_secs_f64();
    row(
        "without changes",
        format!(
            "{:.0} messages and {:.0} KiB a second; {:.1} % of a core for the server, {}",
            (server.sent_messages().await? - messages) as f64 / seconds,
            (server.sent().await? - sent) as f64 / seconds / 1024.0,
            (server.cpu()? - cpu).as_secs_f64() / seconds * 100.0,
            mib(server.memory()?)
        ),
    );

    // A worker with known tools, and one with new ones.
    for (command, name) in [("known", "a worker with known tools"), ("new", "a worker with another toolset")] {
        let started = Instant::now();
        observer.publish(format!("growth.join.{command}"), "".into()).await?;
        until(async || all(&callers, n_workers + 1).await).await;
        row(&format!("{name} joins, until all callers know"), format!("{:.0?}", started.elapsed()));
        if command == "new" {
            let dispatcher = dispatcher(&callers[0]).await?;
            dispatcher.call("space0:extra", "{}").await?;
            row("until one has called it", format!("{:.0?}", started.elapsed()));
        }
        let started = Instant::now();
        observer.publish(format!("growth.leave.{command}"), "".into()).await?;
        until(async || all(&callers, n_workers).await).await;
        row("it leaves, until no caller calls it", format!("{:.0?}", started.elapsed()));
    }
    fleet.kill()?;
    fleet.wait()?;
    Ok(())
}

/// Waits until a caller knows all workers and tools. Returns the time after which it knew the workers.
async fn learn(caller: &NatsBackend, n_workers: usize, n_tools: usize) -> Result<Duration, Failure> {
    let started = Instant::now();
    let mut known = None;
    loop {
        let n_members = caller.members().await?.len();
        if n_members == n_workers {
            known.get_or_insert_with(|| started.elapsed());
            if caller.tools().await?.tools.len() == n_tools {
                return Ok(known.unwrap_or_default());
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

async fn all(callers: &[NatsBackend], n_workers: usize) -> bool {
    for caller in callers {
        if caller.members().await.map_or(0, |members| members.len()) != n_workers {
            return false;
        }
    }
    true
}

async fn until(mut holds: impl AsyncFnMut() -> bool) {
    while !holds().await {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

async fn dispatcher(caller: &NatsBackend) -> Result<Dispatcher, Failure> {
    let backends = Backends::new();
    backends.register(caller.clone())?;
    let collected = backends.collect(Catalog::new([])?).await;
    Ok(Dispatcher::builder(collected.catalog).routes(collected.routes).build()?)
}

/// Returns the resident memory of this process in bytes.
fn memory() -> Result<u64, Failure> {
    server::memory_of(std::process::id())
}
