//! A server under load: tools that sleep, spin and block, over each transport, with small limits.
//!
//! `fixture_load mcp|stdio|otc [KEY=NUMBER]…`; over HTTP it prints its address. `serve` is the command of that name.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use toolkit::{Catalog, Context, Dispatcher, tool};
use toolkit_mcp_server::Server;
use toolkit_otc::Auth;
use toolkit_runtime::ShutdownSignals;

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let transport = args.next().unwrap_or_default();
    if transport == "serve" {
        return toolkit_cli::main_with(Ok);
    }
    let numbers = args.filter_map(|arg| {
        let (key, number) = arg.split_once('=')?;
        Some((key.to_owned(), number.parse().ok()?))
    });
    match serve(&transport, &Numbers(numbers.collect())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

struct Numbers(HashMap<String, usize>);

impl Numbers {
    fn get(&self, key: &str, default: usize) -> usize {
        self.0.get(key).copied().unwrap_or(default)
    }

    /// Returns the port, which is free by default.
    fn port(&self) -> u16 {
        self.get("port", 0).try_into().unwrap_or(0)
    }

    fn seconds(&self, key: &str) -> Duration {
        Duration::from_secs(self.get(key, 30) as u64)
    }
}

#[tokio::main(worker_threads = 2)]
async fn serve(transport: &str, numbers: &Numbers) -> Outcome {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    if transport == "otc" {
        return serve_otc(dispatcher, numbers).await;
    }
    let server = Server::builder(dispatcher)
        .call_timeout(numbers.seconds("call_timeout"))
        .shutdown_timeout(numbers.seconds("shutdown_timeout"))
        .concurrency(numbers.get("concurrency", 256))
        .build()?;
    if transport == "stdio" {
        return Ok(server.stdio().await?);
    }
    let mut http =
        server.http().io_timeout(numbers.seconds("io_timeout")).shutdown_timeout(numbers.seconds("shutdown_timeout"));
    if numbers.get("token", 0) == 1 {
        http = http.token("s3cr3t");
    }
    let http = http.limits(|limits| {
        limits.max_connections = numbers.get("connections", limits.max_connections);
        // Here clients have loopback addresses only.
        limits.reserved_connections = numbers.get("reserved", limits.reserved_connections);
        limits.max_event_streams = numbers.get("event_streams", limits.max_event_streams);
        limits.max_pending_bytes = numbers.get("pending_bytes", limits.max_pending_bytes);
    });
    let http = http.drain_delay(Duration::from_secs(numbers.get("drain_delay", 0) as u64));
    let listening = http.bind(("127.0.0.1", numbers.port())).await?;
    println!("{}", listening.local_addr()?);
    listening.run_until_signal().await;
    Ok(())
}

async fn serve_otc(dispatcher: Dispatcher, numbers: &Numbers) -> Outcome {
    let mut limits = toolkit_otc::Limits::default();
    limits.call_timeout = numbers.seconds("call_timeout");
    limits.shutdown_timeout = numbers.seconds("shutdown_timeout");
    limits.read_timeout = numbers.seconds("io_timeout");
    limits.max_calls = numbers.get("concurrency", limits.max_calls);
    limits.max_connections = numbers.get("connections", limits.max_connections);
    limits.drain_delay = Duration::from_secs(numbers.get("drain_delay", 0) as u64);
    let auth = if numbers.get("token", 0) == 1 { Auth::api_key("s3cr3t") } else { Auth::none() };
    let server = toolkit_otc::Server::new(dispatcher).limits(limits).auth(auth);
    let mut signals = ShutdownSignals::listen();
    let listener = TcpListener::bind(("127.0.0.1", numbers.port())).await?;
    println!("{}", listener.local_addr()?);
    let (first, shutdown) = tokio::sync::oneshot::channel();
    let second = async move {
        signals.next().await;
        let _ = first.send(());
        signals.next().await;
    };
    tokio::select! {
        () = server.serve(listener, async move { drop(shutdown.await) }) => {}
        () = second => {}
    }
    Ok(())
}

/// Adds a line to a file, where another process can read it.
fn note(line: &str) {
    if let Some(path) = std::env::var_os("FIXTURE_DIARY") {
        let diary = OpenOptions::new().create(true).append(true).open(path);
        // One short line per write, so that a reader never sees a partial line.
        let _ = diary.and_then(|mut diary| diary.write_all(format!("{line}\n").as_bytes()));
    }
}

fn spin(ms: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(ms) {
        std::hint::spin_loop();
    }
}

/// Answers at once.
#[tool(namespace = "Load", version = "1.0.0")]
fn quick() -> u32 {
    1
}

/// Sleeps on its thread.
#[tool(namespace = "Load", version = "1.0.0")]
fn sleep(ms: u64) -> u64 {
    note("sleep");
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

/// Does the same as a task.
#[tool(namespace = "Load", version = "1.0.0", task)]
async fn long(id: u64, ms: u64) -> u64 {
    record(id, ms).await
}

/// Records its start and its end, with a number that the caller chose.
#[tool(namespace = "Load", version = "1.0.0")]
async fn record(id: u64, ms: u64) -> u64 {
    note(&format!("start {id}"));
    tokio::time::sleep(Duration::from_millis(ms)).await;
    note(&format!("end {id}"));
    id
}

/// Waits until there is a file of this name.
#[tool(namespace = "Load", version = "1.0.0")]
fn await_file(path: std::path::PathBuf) -> bool {
    note("await_file");
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// Keeps a core busy.
#[tool(namespace = "Load", version = "1.0.0")]
fn busy(ms: u64) -> u64 {
    note("busy");
    spin(ms);
    ms
}

/// Sleeps on its thread, although it is asynchronous.
#[tool(namespace = "Load", version = "1.0.0")]
async fn sleep_in_future(ms: u64) -> u64 {
    note("sleep_in_future");
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

/// Keeps a core busy, although it is asynchronous.
#[tool(namespace = "Load", version = "1.0.0")]
async fn busy_in_future(ms: u64) -> u64 {
    note("busy_in_future");
    spin(ms);
    ms
}

/// Sleeps on a thread that may block.
#[tool(namespace = "Load", version = "1.0.0", blocking)]
fn sleep_blocking(ms: u64) -> u64 {
    note("sleep_blocking");
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

/// Sleeps longer than it may.
#[tool(namespace = "Load", version = "1.0.0", timeout = "200ms")]
fn overdue(ms: u64) -> u64 {
    std::thread::sleep(Duration::from_millis(ms));
    ms
}

/// Returns text.
#[tool(namespace = "Load", version = "1.0.0")]
fn text(n_bytes: usize) -> String {
    "x".repeat(n_bytes)
}

/// Takes text.
#[tool(namespace = "Load", version = "1.0.0")]
fn length(text: String) -> usize {
    text.len()
}

/// Occupies its thread until the call is cancelled, and records the end.
#[tool(namespace = "Load", version = "1.0.0")]
fn watch(ctx: &Context) -> bool {
    note("watching");
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(5));
    }
    note("cancelled");
    true
}
