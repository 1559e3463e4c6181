//! The tools of these tests, and the state that they share with the tests.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Chunks, Context, Dispatcher, ToolError, catalog, tool};

/// The counters of the tools of one dispatcher.
#[derive(Clone, Default)]
pub(crate) struct Seen {
    running: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
    begun: Arc<AtomicUsize>,
    is_let_go: Arc<AtomicBool>,
    outcomes: Arc<Mutex<VecDeque<ToolError>>>,
}

impl Seen {
    /// Counts a running call until the guard is dropped.
    pub(crate) fn enter(&self) -> Running {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let running = self.running.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(running, Ordering::SeqCst);
        Running(Arc::clone(&self.running))
    }

    /// Returns the number of calls that have started.
    pub(crate) fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    /// Returns the maximum number of concurrent calls.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::SeqCst)
    }

    /// Returns the number of running calls.
    pub(crate) fn running(&self) -> usize {
        self.running.load(Ordering::SeqCst)
    }

    /// Sets the errors of the next calls of `flaky`; further calls succeed.
    pub(crate) fn fail_with(&self, errors: impl IntoIterator<Item = ToolError>) {
        self.outcomes.lock().unwrap().extend(errors);
    }

    /// Lets `stays` return.
    pub(crate) fn let_go(&self) {
        self.is_let_go.store(true, Ordering::SeqCst);
    }

    fn outcome(&self) -> Result<usize, ToolError> {
        let _running = self.enter();
        match self.outcomes.lock().unwrap().pop_front() {
            Some(error) => Err(error),
            None => Ok(self.begun()),
        }
    }
}

/// A guard that counts a running call.
pub(crate) struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Yields a few times, then gives back what it was given.
#[tool(namespace = "layers", read_only)]
async fn echo(n: u32, seen: &Seen) -> u32 {
    let _running = seen.enter();
    for _ in 0..4 {
        tokio::task::yield_now().await;
    }
    n
}

/// Does the same under another name.
#[tool(namespace = "layers", read_only)]
async fn echo_too(n: u32, seen: &Seen) -> u32 {
    let _running = seen.enter();
    tokio::task::yield_now().await;
    n
}

/// Fails as the test configures.
#[tool(namespace = "layers", idempotent)]
async fn flaky(seen: &Seen) -> Result<usize, ToolError> {
    seen.outcome()
}

/// Fails as the test configures, and is read-only.
#[tool(namespace = "layers", read_only)]
async fn flaky_reader(seen: &Seen) -> Result<usize, ToolError> {
    seen.outcome()
}

/// Fails as the test configures, without hints.
#[tool(namespace = "layers")]
async fn flaky_unmarked(seen: &Seen) -> Result<usize, ToolError> {
    seen.outcome()
}

/// Fails as the test configures, in the middle of its result.
#[tool(namespace = "layers", idempotent)]
fn flaky_stream(seen: &Seen) -> Result<Chunks<usize>, ToolError> {
    seen.outcome().map(|begun| Chunks::from_items([begun]))
}

/// Deletes a file.
#[tool(namespace = "layers", destructive)]
fn delete(path: String, #[serde(default)] force: bool, seen: &Seen) -> String {
    let _running = seen.enter();
    format!("{path} is gone{}", if force { ", by force" } else { "" })
}

/// Says that it destroys nothing.
#[tool(namespace = "layers", destructive = false)]
fn append(seen: &Seen) {
    let _running = seen.enter();
}

/// Panics.
#[tool(namespace = "layers", idempotent)]
async fn panics(seen: &Seen) -> u32 {
    let _running = seen.enter();
    panic!("a secret of the tool");
}

/// Never returns.
#[tool(namespace = "layers", idempotent)]
async fn hangs(seen: &Seen) -> u32 {
    let _running = seen.enter();
    std::future::pending().await
}

/// Blocks its thread until the call is cancelled.
#[tool(namespace = "layers", idempotent, blocking)]
fn blocks(ctx: &Context, seen: &Seen) -> u32 {
    let _running = seen.enter();
    while !ctx.is_cancelled() {
        std::thread::sleep(Duration::from_millis(1));
    }
    0
}

/// Blocks its thread until the test releases it, even if the call is cancelled; for a bounded time, so that a failing
/// test ends.
#[tool(namespace = "layers", idempotent, blocking)]
fn stays(seen: &Seen) {
    let _running = seen.enter();
    for _ in 0..5_000 {
        if seen.is_let_go.load(Ordering::SeqCst) {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[derive(Serialize, JsonSchema)]
struct Share {
    #[schemars(range(max = 100))]
    percent: u8,
}

/// Returns more than its schema allows.
#[tool(namespace = "layers", idempotent)]
async fn lies(seen: &Seen) -> Share {
    let _running = seen.enter();
    Share { percent: 101 }
}

/// Reports its progress without end, or nearly.
#[tool(namespace = "layers", idempotent)]
async fn floods(ctx: &Context, seen: &Seen) -> u32 {
    let _running = seen.enter();
    for n in 0..10_000 {
        ctx.progress(f64::from(n), 10_000.0, "flooding");
    }
    0
}

/// A dispatcher of these tools, what they will have seen, and the layers of the test.
pub(crate) fn dispatcher(layers: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder) -> (Dispatcher, Seen) {
    let seen = Seen::default();
    let catalog = catalog![
        append,
        blocks,
        delete,
        echo,
        echo_too,
        flaky,
        flaky_reader,
        flaky_stream,
        flaky_unmarked,
        floods,
        hangs,
        lies,
        panics,
        stays,
    ];
    let builder = Dispatcher::builder(catalog.unwrap()).state(seen.clone());
    (layers(builder).build().unwrap(), seen)
}
