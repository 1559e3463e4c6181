//! Calls whose arguments grow, compared to serde and the same function.

use std::hint::black_box;

use toolkit_benches::measure::{COLUMNS, Table};
use toolkit_plot::results::{Recorder, Table as ResultTable};

use crate::tools::{self, Batch};
use crate::{Bench, Tree, call_sync, floor, mcp};

impl Bench {
    /// Measures `batch` with one row to the thousand that its schema allows.
    pub(crate) fn growth(&self, recorder: &mut Recorder) {
        let Self { dispatcher, rmcp, runtime, .. } = self;
        let tree = Tree::of(dispatcher, "batch");
        let mut grown = ResultTable::new("growth of `batch`", &[&["bytes"][..], &COLUMNS].concat());
        for n_rows in [1, 4, 16, 64, 256, 1_000] {
            let arguments = &*tools::rows(n_rows);
            let params = mcp::params("batch", arguments);
            let names = [
                "floor: serde, function, serde",
                "`Dispatcher::call_sync`",
                "tree and jsonschema",
                "MCP `params` to result: `Dispatcher::call`",
                "MCP `params` to result: rmcp 3.11.0 `ToolRouter`",
            ];
            let mut table = Table::new(format!("`batch` of {n_rows}, {} bytes", arguments.len()));
            table.row(names[0], "nothing", || floor(black_box(arguments), |args: Batch| tools::batch(args)));
            table.row(names[1], "in and out", || call_sync(dispatcher, "batch", black_box(arguments)));
            table.row(names[2], "in and out", || tree.call(black_box(arguments), |args: Batch| tools::batch(args)));
            table.row_async(names[3], "in and out", runtime, async || mcp::call(dispatcher, black_box(&params)).await);
            table.row_async(names[4], "nothing", runtime, async || rmcp.call(black_box(&params)).await);
            let measured = table.measure();
            println!("{measured}");
            for (name, values) in names.into_iter().zip(measured.values()) {
                grown.row(name, std::iter::once(arguments.len() as f64).chain(values).map(Some));
            }
        }
        recorder.add(grown);
    }
}
