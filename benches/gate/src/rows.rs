//! What is counted: the floor and the calls, each by a name.

use std::hint::black_box;

use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::{Catalog, Dispatcher};

use crate::tools::{self, Add};

/// Everything that a row needs, made once.
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
            runtime: tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts"),
            batch: tools::rows(),
            dispatcher,
        }
    }

    /// Makes the calls of one row.
    pub(crate) fn repeat(&self, row: &str, n_calls: usize) {
        self.runtime.block_on(async {
            for _ in 0..n_calls {
                black_box(self.once(row).await);
            }
        });
    }

    async fn once(&self, row: &str) -> Vec<u8> {
        match row {
            "floor-add" => floor(black_box(tools::ADD), |Add { a, b }| tools::add(a, b)),
            "floor-search" => floor(black_box(tools::SEARCH), tools::search),
            "floor-batch" => floor(black_box(&self.batch), tools::batch),
            "floor-refused" => self.errors(black_box(tools::REFUSED)).join("\n").into_bytes(),
            "add" => self.sync(row, tools::ADD),
            "search" => self.sync(row, tools::SEARCH),
            "batch" => self.sync(row, &self.batch),
            "add_async" => self.awaited(row, tools::ADD).await,
            "search_async" => self.awaited(row, tools::SEARCH).await,
            "batch_async" => self.awaited(row, &self.batch).await,
            "refused" => {
                let error = self.dispatcher.call_sync("search", black_box(tools::REFUSED)).expect_err("it is refused");
                error.to_string().into_bytes()
            }
            _ => panic!("no row is called `{row}`"),
        }
    }

    fn sync(&self, tool: &str, arguments: &[u8]) -> Vec<u8> {
        self.dispatcher.call_sync(tool, black_box(arguments)).expect("it succeeds").into_json()
    }

    async fn awaited(&self, tool: &str, arguments: &[u8]) -> Vec<u8> {
        self.dispatcher.call(tool, black_box(arguments)).await.expect("it succeeds").into_json()
    }

    /// What a bare validator says of a call that is refused.
    fn errors(&self, arguments: &[u8]) -> Vec<String> {
        let arguments: Value = serde_json::from_slice(arguments).expect("valid");
        let errors = self.search.iter_errors(&arguments);
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
    }
}

fn floor<In: DeserializeOwned, Out: Serialize>(arguments: &[u8], tool: fn(In) -> Out) -> Vec<u8> {
    let arguments = serde_json::from_slice(arguments).expect("valid");
    serde_json::to_vec(&tool(arguments)).expect("a result is JSON")
}
