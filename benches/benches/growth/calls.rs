//! Calls in flight that grow in number: each waits until all of them have started.

use std::hint::black_box;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::Semaphore;
use tokio::task::{JoinSet, yield_now};
use toolkit::{Dispatcher, catalog, tool};
use toolkit_benches::allocations;
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;

use crate::table::{Cost, Growth};
use crate::tools::{self, Add, Hits, Search, Sum};

/// Holds calls until all of them have arrived.
struct Gate {
    n_arrived: AtomicUsize,
    permits: Semaphore,
}

impl Gate {
    async fn pass(&self) {
        self.n_arrived.fetch_add(1, Ordering::Relaxed);
        self.permits.acquire().await.expect("it is not closed").forget();
    }

    async fn all_arrived(&self, n_calls: usize) {
        while self.n_arrived.load(Ordering::Relaxed) < n_calls {
            yield_now().await;
        }
    }

    fn open(&self, n_calls: usize) {
        self.n_arrived.store(0, Ordering::Relaxed);
        self.permits.add_permits(n_calls);
    }
}

/// Adds two integers.
#[tool]
async fn add(a: i64, b: i64, gate: &Gate) -> Sum {
    gate.pass().await;
    tools::add(a, b)
}

/// Searches.
#[tool]
async fn search(args: Search, gate: &Gate) -> Hits {
    gate.pass().await;
    tools::search(args)
}

pub(crate) fn measure(recorder: &mut Recorder, sizes: &[usize]) {
    let gate = Arc::new(Gate { n_arrived: AtomicUsize::new(0), permits: Semaphore::new(0) });
    let builder = Dispatcher::builder(catalog![add, search].expect("the names differ"));
    let bench = Bench {
        dispatcher: builder.shared_state(Arc::clone(&gate)).build().expect("the gate is there"),
        gate,
        runtime: Builder::new_current_thread().build().expect("a runtime starts"),
    };
    bench.grow(recorder, sizes, "add", tools::ADD, |Add { a, b }| tools::add(a, b));
    bench.grow(recorder, sizes, "search", tools::SEARCH, tools::search);
}

struct Bench {
    dispatcher: Dispatcher,
    gate: Arc<Gate>,
    runtime: Runtime,
}

impl Bench {
    fn grow<In: DeserializeOwned + Send + 'static, Out: Serialize + 'static>(
        &self,
        recorder: &mut Recorder,
        sizes: &[usize],
        name: &'static str,
        arguments: &'static [u8],
        tool: fn(In) -> Out,
    ) {
        let title = format!("calls of `{name}` in flight");
        let mut growth = Growth::new(&*title, "calls");
        for &n_calls in sizes {
            let floor = || {
                let gate = Arc::clone(&self.gate);
                async move {
                    let arguments = serde_json::from_slice(black_box(arguments)).expect("valid");
                    gate.pass().await;
                    serde_json::to_vec(&tool(arguments)).expect("a result is JSON")
                }
            };
            let call = || {
                let dispatcher = self.dispatcher.clone();
                async move { dispatcher.call(name, black_box(arguments)).await.expect("it succeeds").into_json() }
            };
            let names = ["a call: serde, async function, serde", "a call: `Dispatcher::call`"];
            // The first calls build the schemas and grow the lists of the runtime, which is not memory of a call.
            let memory = [0, 1].map(|_| {
                let of = async || [self.together(n_calls, floor).await, self.together(n_calls, call).await];
                self.runtime.block_on(of())
            });
            let mut table = Table::new(&*title);
            table.row_async(names[0], "nothing", &self.runtime, async || self.together(n_calls, floor).await);
            table.row_async(names[1], "in and out", &self.runtime, async || self.together(n_calls, call).await);
            for (nth, values) in table.measure().values().enumerate() {
                let memory_bytes = Some(memory[1][nth] as f64 / n_calls as f64);
                growth.add(names[nth], n_calls, Cost { memory_bytes, ..Cost::per(n_calls, values) });
            }
        }
        growth.report(recorder);
    }

    /// Makes calls as tasks, and returns the bytes that they have allocated when all of them wait.
    async fn together<F>(&self, n_calls: usize, call: impl Fn() -> F) -> i64
    where
        F: Future<Output = Vec<u8>> + Send + 'static,
    {
        let before = allocations::bytes();
        let mut calls: JoinSet<Vec<u8>> = (0..n_calls).map(|_| call()).collect();
        self.gate.all_arrived(n_calls).await;
        let bytes = allocations::bytes() - before;
        self.gate.open(n_calls);
        while let Some(json) = calls.join_next().await {
            black_box(json.expect("no call panics"));
        }
        bytes
    }
}
