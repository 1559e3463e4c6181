//! Layers that grow in number, and do nothing.

use std::hint::black_box;

use toolkit::{Dispatcher, catalog};
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;
use tower::layer::util::Identity;

use crate::table::{Cost, Growth};
use crate::tools;

pub(crate) fn measure(recorder: &mut Recorder, sizes: &[usize]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    let dispatchers: Vec<Dispatcher> = sizes.iter().map(|n_layers| dispatcher(*n_layers)).collect();
    for (title, tool, arguments) in
        [("layers around `add`", "add_async", tools::ADD), ("layers around `search`", "search_async", tools::SEARCH)]
    {
        let mut table = Table::new(title);
        for dispatcher in &dispatchers {
            table.row_async(title, "in and out", &runtime, async || {
                dispatcher.call(tool, black_box(arguments)).await.expect("it succeeds").into_json()
            });
        }
        let mut growth = Growth::new(title, "layers");
        for (&n_layers, values) in sizes.iter().zip(table.measure().values()) {
            growth.add("a call: `Dispatcher::call`", n_layers, Cost::per(1, values));
        }
        growth.report(recorder);
    }
}

fn dispatcher(n_layers: usize) -> Dispatcher {
    let catalog = catalog![tools::add_async, tools::search_async].expect("the names differ");
    let builder = Dispatcher::builder(catalog);
    let builder = (0..n_layers).fold(builder, |builder, _| builder.layer(Identity::new()));
    builder.build().expect("no state is needed")
}
