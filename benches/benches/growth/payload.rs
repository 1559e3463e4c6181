//! Arguments and results that grow, as many small values and as one long one.

use std::hint::black_box;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolkit::{Dispatcher, catalog, tool};
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;

use crate::floor;
use crate::table::{Cost, Growth};

/// Above the largest payload: the default of 16 MiB is for arguments and results that a model reads.
const MAX_BYTES: usize = 64 << 20;

#[derive(Deserialize, Serialize, JsonSchema)]
struct Orders {
    orders: Vec<Order>,
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Order {
    id: u64,
    #[schemars(length(min = 1, max = 80))]
    customer: String,
    #[schemars(range(min = 0.0))]
    amount: f64,
    is_paid: bool,
    tags: Vec<String>,
    note: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Bill {
    id: u64,
    #[schemars(length(max = 80))]
    customer: String,
    #[schemars(range(min = 0.0))]
    due: f64,
}

/// Bills customers.
#[tool]
fn bill(args: Orders) -> Vec<Bill> {
    let bill =
        |Order { id, customer, amount, is_paid, .. }| Bill { id, customer, due: if is_paid { 0.0 } else { amount } };
    args.orders.into_iter().map(bill).collect()
}

#[derive(Deserialize, Serialize, JsonSchema)]
struct Document {
    text: String,
}

/// Returns a text.
#[tool]
fn repeat(args: Document) -> Document {
    args
}

pub(crate) fn measure(recorder: &mut Recorder, sizes: &[usize]) {
    let builder = Dispatcher::builder(catalog![bill, repeat].expect("the names differ"));
    let builder = builder.max_argument_bytes(MAX_BYTES).max_result_bytes(MAX_BYTES);
    let dispatcher = builder.build().expect("no state is needed");
    grow(recorder, "payload of records", sizes, &dispatcher, "bill", orders, bill);
    grow(recorder, "payload of one text", sizes, &dispatcher, "repeat", document, repeat);
}

/// Measures the time of a byte of arguments, with the work that belongs to it.
fn grow<In: DeserializeOwned, Out: Serialize>(
    recorder: &mut Recorder,
    title: &str,
    sizes: &[usize],
    dispatcher: &Dispatcher,
    tool: &str,
    arguments: fn(usize) -> Vec<u8>,
    function: fn(In) -> Out,
) {
    let mut growth = Growth::new(title, "bytes");
    for &size in sizes {
        let arguments = &*arguments(size);
        let call = || dispatcher.call_sync(tool, black_box(arguments)).expect("it succeeds").into_json();
        assert!(call() == floor(arguments, function));
        let names = ["a byte: serde, function, serde", "a byte: `Dispatcher::call_sync`"];
        let mut table = Table::new(title);
        table.row(names[0], "nothing", || floor(black_box(arguments), function));
        table.row(names[1], "in and out", call);
        for (name, values) in names.into_iter().zip(table.measure().values()) {
            growth.add(name, size, Cost::per(arguments.len(), values));
        }
    }
    growth.report(recorder);
}

/// Returns orders of that many bytes, to within one order.
fn orders(n_bytes: usize) -> Vec<u8> {
    let order = |id: u64| Order {
        id,
        customer: format!("Customer number {id}"),
        amount: id as f64 * 1.25,
        is_paid: id.is_multiple_of(3),
        tags: (0..id % 4).map(|nth| format!("label {nth}")).collect(),
        note: id.is_multiple_of(4).then(|| "please call back in the afternoon".to_owned()),
    };
    let mut orders = Orders { orders: Vec::new() };
    let mut length = 0;
    for order in (1..).map(order) {
        if length > n_bytes {
            break;
        }
        length += serde_json::to_vec(&order).expect("an order is JSON").len() + 1;
        orders.orders.push(order);
    }
    serde_json::to_vec(&orders).expect("orders are JSON")
}

/// Returns a text of about that many bytes, in lines with a quoted word and a letter outside ASCII.
fn document(n_bytes: usize) -> Vec<u8> {
    const LINE: &str = "The train from Zürich to Lugano has a \"restaurant\" car, and takes bicycles.\n";
    let text = LINE.repeat(n_bytes.div_ceil(LINE.len() + LINE.matches(['"', '\n']).count()));
    serde_json::to_vec(&Document { text }).expect("a text is JSON")
}
