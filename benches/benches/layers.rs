//! Cost of layers, compared to a call without layers.
//!
//! No layer has an effect: no call is rejected or fails, and no subscriber records the spans.

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

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Adds two integers; declared as read-only, so that it can be retried.
#[tool(read_only)]
async fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two integers; declares no hints, so that it needs approval.
#[tool]
async fn add_asked(a: i64, b: i64) -> i64 {
    a + b
}

const ARGUMENTS: &[u8] = br#"{"a":17,"b":25}"#;

fn main() -> std::io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts");
    let dispatchers = dispatchers();
    let mut table = Table::new("a call of `add`");
    for (name, tool, dispatcher) in &dispatchers {
        let call = async || dispatcher.call(tool, black_box(ARGUMENTS)).await.expect("it succeeds").into_json();
        // The first call builds the schemas that all others use.
        assert_eq!(runtime.block_on(call()), b"42");
        table.row_async(name, "in and out", &runtime, call);
    }
    let mut recorder = Recorder::new("cargo bench -p toolkit-benches --bench layers");
    table.measure().report(&mut recorder);
    recorder.finish()
}

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
        ("no layer", "add", with(plain)),
        ("no layer, again", "add", with(plain)),
        ("one that does nothing", "add", with(|builder| builder.layer(Identity::new()))),
        ("`Traced`", "add", with(|builder| builder.layer(Traced::new()))),
        ("`RateLimit::overall`", "add", with(|builder| builder.layer(RateLimit::overall(rate)))),
        ("`RateLimit::per_tool`", "add", with(|builder| builder.layer(RateLimit::per_tool(rate)))),
        ("`ConcurrencyPerTool`", "add", with(|builder| builder.layer(ConcurrencyPerTool::new(8)))),
        ("`Retry`", "add", with(|builder| builder.layer(Retry::new()))),
        ("`Approval` of a tool that is read-only", "add", with(|builder| builder.layer(approval()))),
        ("`Approval` of one that is not", "add_asked", with(|builder| builder.layer(approval()))),
        (
            "`FromTower`, a time limit",
            "add",
            with(|builder| builder.layer(FromTower::new(TimeoutLayer::new(Duration::from_secs(60))))),
        ),
        (
            "`FromTower`, a limit of all calls",
            "add",
            with(|builder| builder.layer(FromTower::new(ConcurrencyLimitLayer::new(8)))),
        ),
        ("the dispatcher's own time limit", "add", with(|builder| builder.timeout(Duration::from_secs(60)))),
        ("the dispatcher's own limit of all calls", "add", with(|builder| builder.concurrency(8))),
        ("all six of this crate, as it recommends", "add", with(all)),
    ]
}

fn with(layers: impl FnOnce(DispatcherBuilder) -> DispatcherBuilder) -> Dispatcher {
    let catalog: Catalog = catalog![add, add_asked].expect("the names differ");
    layers(Dispatcher::builder(catalog)).build().expect("no state is needed")
}
