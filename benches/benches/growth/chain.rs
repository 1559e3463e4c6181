//! Chains that grow: each step takes the result of the step before it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolkit::{Context, Dispatcher, catalog, tool};
use toolkit_backends::chain::{Chain, Step};
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;

use crate::table::{Cost, Growth};

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Ticket {
    id: u64,
    #[schemars(length(min = 1, max = 200))]
    title: String,
    #[schemars(length(max = 10))]
    labels: Vec<String>,
    assignee: Option<String>,
    #[schemars(range(min = 0.0, max = 1.0))]
    priority: f64,
}

/// Raises the priority of a ticket.
#[tool(namespace = "tickets")]
fn raise(ticket: Ticket, by: f64) -> Ticket {
    Ticket { priority: (ticket.priority + by).min(1.0), ..ticket }
}

pub(crate) fn measure(recorder: &mut Recorder, sizes: &[usize]) {
    let dispatcher = Dispatcher::new(catalog![add, raise].expect("the names differ")).expect("no state is needed");
    let ticket = json!({ "id": 7, "title": "Printer out of paper", "labels": ["office", "hardware"],
        "assignee": "ada", "priority": 0.25 });
    let first = Step::new("math:add").arg("a", 1).arg("b", 2);
    grow(recorder, sizes, &dispatcher, "add", first, |before| Step::new("math:add").arg("a", 1).take("b", before, ""));
    let first = Step::new("tickets:raise").arg("ticket", ticket).arg("by", 0.125);
    grow(recorder, sizes, &dispatcher, "raise", first, |before| {
        Step::new("tickets:raise").take("ticket", before, "").arg("by", 0.125)
    });
}

fn grow(
    recorder: &mut Recorder,
    sizes: &[usize],
    dispatcher: &Dispatcher,
    name: &str,
    first: Step,
    next: impl Fn(String) -> Step,
) {
    let context = Context::new();
    let mut growth = Growth::new(format!("chain of `{name}`"), "steps");
    for &n_steps in sizes {
        let steps = (1..n_steps).map(|nth| next((nth - 1).to_string()).named(nth.to_string()));
        let chain = steps.fold(Chain::new().then(first.clone().named("0")), Chain::then);
        let prepared = chain.prepare(dispatcher).expect("it is valid");
        assert!(prepared.run_sync(&context).error().is_none());
        let names = ["a step: `PreparedChain::run_sync`", "a step: `Chain::run_sync`, which checks the chain"];
        let mut table = Table::new(name);
        table.row(names[0], "in and out", || prepared.run_sync(&context));
        table.row(names[1], "in and out", || chain.run_sync(dispatcher, &context).expect("it is valid"));
        for (name, values) in names.into_iter().zip(table.measure().values()) {
            growth.add(name, n_steps, Cost::per(n_steps, values));
        }
    }
    growth.report(recorder);
}
