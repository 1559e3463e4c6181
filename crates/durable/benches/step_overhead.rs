//! The time of a step of a chain, beside that of a hand-written workflow on the same engine:
//! `cargo bench -p toolkit-durable --bench step_overhead -- [URL]`.
//!
//! Without the URL of a Postgres database, it starts a server of its own, with the installed programs. All workflows are
//! measured in turns, in one process, from the start of the first of ten steps to that of the last.

use std::path::PathBuf;
use std::process::Command;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use dbos::{DBOS, QueueConflict, QueueOptions};
use toolkit::{Dispatcher, catalog, tool};
use toolkit_backends::chain::{Chain, Step};
use toolkit_durable::{Client, Connect, RunId, Worker};

type Error = Box<dyn std::error::Error + Send + Sync>;

const N_STEPS: usize = 10;
const N_RUNS: usize = 40;

/// The times at which the steps of the current run have started.
static STARTS: Mutex<Vec<Instant>> = Mutex::new(Vec::new());

fn increment(n: u64) -> u64 {
    STARTS.lock().unwrap().push(Instant::now());
    n + 1
}

/// Adds one, and may be repeated.
#[tool(read_only)]
async fn repeatable(n: u64) -> u64 {
    increment(n)
}

/// Adds one, with an effect that must not be repeated.
#[tool]
async fn once(n: u64) -> u64 {
    increment(n)
}

/// A workflow as an author would write it without `toolkit`.
async fn by_hand(is_guarded: bool) -> dbos::Result<u64> {
    let mut n = 0;
    for idx in 0..N_STEPS {
        if is_guarded {
            let id = idx.to_string();
            dbos::step(&format!("guard {idx}"), move || {
                let id = id.clone();
                async move { dbos::Result::Ok(id) }
            })
            .await?;
        }
        n = dbos::step(&format!("step {idx}"), move || async move { dbos::Result::Ok(increment(n)) }).await?;
    }
    Ok(n)
}

fn chain(name: &str) -> Chain {
    (1..N_STEPS).fold(Chain::new().then(Step::new(name).named("s0").arg("n", 0)), |chain, idx| {
        chain.then(Step::new(name).named(format!("s{idx}")).take("n", format!("s{}", idx - 1), ""))
    })
}

/// Returns the time of one step of the run that has just ended.
fn time_of_step() -> Duration {
    let starts = std::mem::take(&mut *STARTS.lock().unwrap());
    assert_eq!(starts.len(), N_STEPS);
    (starts[N_STEPS - 1] - starts[0]) / (N_STEPS as u32 - 1)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e6
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    // `cargo bench` adds `--bench` to the arguments.
    let url = std::env::args().skip(1).find(|argument| argument != "--bench");
    let server = if url.is_some() { None } else { Some(Server::start()?) };
    let url = url.unwrap_or_else(|| server.as_ref().expect("a server").url.clone());

    let connect = Connect::new(&url)?.application("overhead");
    let worker = Worker::new(connect.clone(), Dispatcher::new(catalog![repeatable, once]?)?);
    let worker = tokio::spawn(worker.run(std::future::pending()));
    let client = loop {
        match Client::connect(&connect).await {
            Ok(client) => break client,
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    };
    let config = dbos::Config { app_version: Some("1".to_owned()), ..dbos::Config::new("by-hand", &url) };
    let dbos = DBOS::new(config);
    let workflow = dbos.register_workflow("by_hand", by_hand)?;
    dbos.launch().await?;
    dbos.register_queue("by-hand", QueueOptions::default(), QueueConflict::AlwaysUpdate).await?;

    let mut times: [Vec<Duration>; 4] = Default::default();
    for run in 0..=N_RUNS {
        for (kind, times) in times.iter_mut().enumerate() {
            match kind {
                0 | 1 => drop(workflow.run(kind == 1).await?),
                _ => {
                    let chain = chain(if kind == 2 { "repeatable" } else { "once" });
                    client.start(&chain, RunId::new(format!("run-{run}-{kind}"))?).await?.wait().await?;
                }
            }
            let time = time_of_step();
            // The first round opens connections.
            if run > 0 {
                times.push(time);
            }
        }
    }
    worker.abort();
    dbos.shutdown().await;

    let [plain, guard, repeatable, once] = times.map(median);
    println!("a step of {N_STEPS}, median of {N_RUNS} runs:");
    println!("  by hand                        {plain:8.0} µs");
    println!("  chain, repeatable tool         {repeatable:8.0} µs   {:.2} times", repeatable / plain);
    println!("  by hand, with an entry before  {guard:8.0} µs");
    println!("  chain, guarded tool            {once:8.0} µs   {:.2} times", once / guard);
    Ok(())
}

/// A Postgres server for this run.
struct Server {
    programs: PathBuf,
    folder: PathBuf,
    url: String,
}

impl Server {
    fn start() -> Result<Self, Error> {
        let installed = std::fs::read_dir("/usr/lib/postgresql").ok().and_then(|mut versions| versions.next());
        let programs = match installed {
            Some(version) => version?.path().join("bin"),
            None => PathBuf::new(),
        };
        let port = std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
        let folder = std::env::temp_dir().join(format!("toolkit-durable-overhead-{}", std::process::id()));
        std::fs::create_dir_all(&folder)?;
        let server = Self { programs, folder, url: format!("postgres://postgres@127.0.0.1:{port}/overhead") };
        if is_root() {
            // The server refuses to run as root.
            Command::new("chown").arg("postgres").arg(&server.folder).status()?;
        }
        server.run("initdb", &["--auth=trust", "--username=postgres"])?;
        let options = format!("-c listen_addresses=127.0.0.1 -p {port} -k {}", server.folder.display());
        server.run("pg_ctl", &["-w", "-l", "log", "-o", &options, "start"])?;
        Ok(server)
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<(), Error> {
        let program = self.programs.join(program);
        let mut command = Command::new(if is_root() { "runuser".as_ref() } else { program.as_os_str() });
        if is_root() {
            command.args(["-u", "postgres", "--"]).arg(&program);
        }
        let command = command.current_dir(&self.folder).args(["-D", "data"]).args(arguments);
        let status = command.stdout(std::process::Stdio::null()).status()?;
        if status.success() { Ok(()) } else { Err(format!("{} failed", program.display()).into()) }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.run("pg_ctl", &["-m", "immediate", "stop"]);
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

fn is_root() -> bool {
    Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
