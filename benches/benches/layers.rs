//! Cost of layers, compared to a call without layers, for a call of `add` and a larger one of `search`.
//!
//! No layer has an effect: no call is rejected or fails, and no subscriber records the spans.

#[path = "dispatch/tools.rs"]
#[expect(dead_code, reason = "`batch` and rejected calls are measured in `dispatch`")]
mod tools;

use std::hint::black_box;
use std::time::Duration;

use toolkit::dispatch::DispatcherBuilder;
use toolkit::{Catalog, Dispatcher, catalog, tool};
use toolkit_benches::allocations::Counting;
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;
use toolkit_tower::{Approval, ConcurrencyPerTool, Decision, FromTower, Rate, RateLimit, Retry, Traced};
use tower::layer::util::Identity;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use self::tools::{Hits, Search, Sum};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Adds two integers; declared as read-only, so that it can be retried.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> Sum {
    tools::add(a, b)
}

/// Adds two integers; declares no hints, so that it needs approval.
#[tool]
async fn add_asked(a: i64, b: i64) -> Sum {
    tools::add(a, b)
}

/// Searches; declared as read-only, so that it can be retried.
#[tool(read_only)]
async fn search(args: Search) -> Hits {
    tools::search(args)
}

/// Searches; declares no hints, so that it needs approval.
#[tool]
async fn search_asked(args: Search) -> Hits {
    tools::search(args)
}

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let dispatchers = dispatchers();
    let mut recorder = Recorder::new("cargo bench -p toolkit-benches --bench layers");
    for (tool, arguments) in [("add", tools::ADD), ("search", tools::SEARCH)] {
        let mut table = Table::new(format!("a call of `{tool}`"));
        for (name, hints, dispatcher) in &dispatchers {
            let tool = format!("{tool}{hints}");
            let call =
                async move || dispatcher.call(&tool, black_box(arguments)).await.expect("it succeeds").into_json();
            // The first call builds the schemas that all others use.
            runtime.block_on(call());
            table.row_async(name, "in and out", &runtime, call);
        }
        table.measure().report(&mut recorder);
    }
    recorder.finish()
}

/// Returns the rows: their names, the ends of the names of their tools, and their dispatchers.
fn dispatchers() -> Vec<(&'static str, &'static str, Dispatcher)> {
    // More than the number of calls.
    let rate = Rate::new(u32::MAX, Duration::from_secs(1));
    let approval = || Approval::new(async |_| Decision::Approve);
    let all = |builder: DispatcherBuilder| {
        builder
            .layer(Traced::new())
            .layer(RateLimit::overall(rate))
            .layer(approval())
            .layer(Retry::new())
            .layer(RateLimit::per_tool(rate))
            .layer(ConcurrencyPerTool::new(8))
    };
    let plain = |builder| builder;
    vec![
        ("no layer", "", with(plain)),
        ("no layer, again", "", with(plain)),
        ("one that does nothing", "", with(|builder| builder.layer(Identity::new()))),
        ("`Traced`", "", with(|builder| builder.layer(Traced::new()))),
        ("`RateLimit::overall`", "", with(|builder| builder.layer(RateLimit::overall(rate)))),
        ("`RateLimit::per_tool`", "", with(|builder| builder.layer(RateLimit::per_tool(rate)))),
        ("`ConcurrencyPerTool`", "", with(|builder| builder.layer(ConcurrencyPerTool::new(8)))),
        ("`Retry`", "", with(|builder| builder.layer(Retry::new()))),
        ("`Approval` of a tool that is read-only", "", with(|builder| builder.layer(approval()))),
        ("`Approval` of one that is not", "_asked", with(|builder| builder.layer(approval()))),
        (
            "`FromTower`, a time limit",
            "",
            with(|builder| builder.layer(FromTower::new(TimeoutLayer::new(Duration::from_secs(60))))),
        ),
        (
            "`FromTower`, a limit of all calls",
            "",
            with(|builder| builder.layer(FromTower::new(ConcurrencyLimitLayer::new(8)))),
        ),
        ("the dispatcher's own time limit", "", with(|builder| builder.timeout(Duration::from_secs(60)))),
        ("the dispatcher's own limit of all calls", "", with(|builder| builder.concurrency(8))),
        ("all six of this crate, as it recommends", "", with(all)),
    ]
}

fn with(layers: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder) -> Dispatcher {
    let catalog: Catalog = catalog![add, add_asked, search, search_asked].expect("the names differ");
    layers(Dispatcher::builder(catalog)).build().expect("no state is needed")
}
