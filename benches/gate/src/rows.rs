//! The rows to count: the floor and the calls, each with a name.

use std::hint::black_box;

use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::{Catalog, Coercion, Context, Dispatcher, handle, tool};

use crate::chains::{self, N_STEPS};
use crate::manifests;
use crate::mcp;
use crate::names::{self, TYPO};
use crate::programs;
use crate::search::{self, Searches};
use crate::tools::{self, Add};

/// The arguments of `search` with five values of other types.
const COERCED: &[u8] = br#"{"query":"rust json schema","limit":"20","offset":"40","sort":"newest","lang":"en-GB","tags":"library","min_score":"0.25","exact":"false"}"#;

/// Adds integers.
#[tool]
fn total(values: Vec<u64>) -> u64 {
    values.iter().sum()
}

/// Returns arguments of `total` with more values than are searched for all violations.
fn many() -> Vec<u8> {
    let values: Vec<u64> = (0..100_000).map(|n| n * 7_919 % 1_000_000).collect();
    serde_json::to_vec(&serde_json::json!({ "values": values })).expect("integers are JSON")
}

/// The data of all rows, created once.
pub(crate) struct Rows {
    dispatcher: Dispatcher,
    runtime: Runtime,
    batch: Vec<u8>,
    search: Validator,
}

impl Rows {
    pub(crate) fn new() -> Self {
        let dispatcher = Dispatcher::new(Catalog::linked().expect("the names differ")).expect("no state is needed");
        let schema = dispatcher.catalog().get("search").expect("it is linked").input();
        Self {
            search: jsonschema::validator_for(schema.as_value()).expect("the schema is valid"),
            runtime: tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime starts"),
            batch: tools::rows(500),
            dispatcher,
        }
    }

    /// Makes the calls of one row.
    pub(crate) fn repeat(&self, row: &str, n_calls: usize) {
        let arguments = match row.rsplit_once('-').map_or(row, |(_, tool)| tool).trim_end_matches("_async") {
            "add" => tools::ADD,
            "search" => tools::SEARCH,
            "chain" => tools::ADD,
            "batch" => &self.batch,
            "1" => tools::REFUSED_ONCE,
            "4" => tools::REFUSED_FOUR_TIMES,
            _ => tools::REFUSED,
        };
        match row {
            "floor-add" => each(n_calls, || floor(black_box(arguments), |Add { a, b }| tools::add(a, b))),
            "floor-search" => each(n_calls, || floor(black_box(arguments), tools::search)),
            "floor-batch" => each(n_calls, || floor(black_box(arguments), tools::batch)),
            "floor-rejected" | "floor-rejected-1" | "floor-rejected-4" => {
                each(n_calls, || self.errors(black_box(arguments)))
            }
            "add" | "search" | "batch" => each(n_calls, || self.sync(row, arguments)),
            "prepared-add" | "prepared-search" | "prepared-batch" => {
                let tool = self.dispatcher.prepared(&row["prepared-".len()..]).expect("it is linked");
                each(n_calls, || tool.call_sync(black_box(arguments)).expect("it succeeds").into_json());
            }
            "coerced" => {
                let dispatcher = Dispatcher::builder(Catalog::linked().expect("the names differ"));
                let dispatcher = dispatcher.coercion(Coercion::Lenient).build().expect("no state is needed");
                each(n_calls, || dispatcher.call_sync("search", black_box(COERCED)).expect("it succeeds").into_json());
            }
            // Its message contains its violations as text.
            "rejected" | "rejected-1" | "rejected-4" => {
                each(n_calls, || self.dispatcher.call_sync("search", black_box(arguments)).expect_err("it is rejected"))
            }
            "total" | "total-rejected" => {
                let total = self.dispatcher.prepared("total").expect("it is linked");
                let mut arguments = many();
                if row == "total" {
                    each(n_calls, || total.call_sync(black_box(&arguments)).expect("it succeeds").into_json());
                } else {
                    arguments.truncate(arguments.len() - "]}".len());
                    arguments.extend_from_slice(br#","many"]}"#);
                    each(n_calls, || total.call_sync(black_box(&arguments)).expect_err("it is rejected"));
                }
            }
            "mcp-add" | "mcp-search" | "mcp-batch" => {
                let params = mcp::params(&row["mcp-".len()..], arguments);
                self.awaited(n_calls, async || mcp::call(&self.dispatcher, black_box(&params)).await);
            }
            "handle-add" => {
                let add = handle!(tools::add);
                self.awaited(n_calls, async || add.call(&self.dispatcher, black_box((17, 25))).await);
            }
            "handle-add_async" => {
                let add = handle!(tools::add_async);
                self.awaited(n_calls, async || add.call(&self.dispatcher, black_box((17, 25))).await);
            }
            "floor-unknown-name" => {
                let catalog = names::catalog();
                each(n_calls, || names::floor(&catalog, black_box(TYPO)));
            }
            "unknown-name" => {
                let catalog = names::catalog();
                each(n_calls, || names::unknown(&catalog, black_box(TYPO)));
            }
            "floor-chain" => {
                let add = self.dispatcher.prepared("add").expect("it is linked");
                each(n_calls * N_STEPS, || add.call_sync(black_box(arguments)).expect("it succeeds").into_json());
            }
            "chain" => {
                let chain = chains::chain();
                let prepared = chain.prepare(&self.dispatcher).expect("it is valid");
                each(n_calls, || assert!(prepared.run_sync(black_box(&Context::new())).error().is_none()));
            }
            "floor-manifest" => {
                let list = manifests::list();
                each(n_calls, || manifests::floor(black_box(&list)));
            }
            "manifest" => {
                let list = manifests::list();
                // The first one builds the schema of a tool's form.
                black_box(manifests::manifest(&list));
                each(n_calls, || manifests::manifest(black_box(&list)));
            }
            "check" | "tool-list" => {
                let catalog = manifests::catalog(&manifests::list());
                match row {
                    "check" => each(n_calls, || manifests::check(black_box(&catalog))),
                    _ => each(n_calls, || manifests::written(black_box(&catalog))),
                }
            }
            "floor-find" => each(n_calls, search::floor),
            "find" => Searches::new().repeat(n_calls),
            "floor-program" => each(n_calls, programs::floor),
            "program" => each(n_calls, programs::program),
            "program-add_async" => self.runtime.block_on(programs::calls(&self.dispatcher, n_calls)),
            _ => self.awaited(n_calls, async || {
                self.dispatcher.call(row, black_box(arguments)).await.expect("it succeeds").into_json()
            }),
        }
    }

    fn sync(&self, tool: &str, arguments: &[u8]) -> Vec<u8> {
        self.dispatcher.call_sync(tool, black_box(arguments)).expect("it succeeds").into_json()
    }

    fn awaited<T>(&self, n_calls: usize, call: impl AsyncFn() -> T) {
        self.runtime.block_on(async {
            for _ in 0..n_calls {
                black_box(call().await);
            }
        });
    }

    /// Formats the errors of a bare validator for a rejected call.
    fn errors(&self, arguments: &[u8]) -> Vec<String> {
        let arguments: Value = serde_json::from_slice(arguments).expect("valid");
        let errors = self.search.iter_errors(&arguments);
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
    }
}

fn each<T>(n_calls: usize, call: impl Fn() -> T) {
    for _ in 0..n_calls {
        black_box(call());
    }
}

fn floor<In: DeserializeOwned, Out: Serialize>(arguments: &[u8], tool: fn(In) -> Out) -> Vec<u8> {
    let arguments = serde_json::from_slice(arguments).expect("valid");
    serde_json::to_vec(&tool(arguments)).expect("a result is JSON")
}
