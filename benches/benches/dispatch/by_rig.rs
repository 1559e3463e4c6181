//! The same tools with rig: from arguments to the rendered output, through its type-erased call.
//!
//! This is less work than in the rows of the other libraries: there is no envelope and no lookup, since the tool is
//! given. Only serde's checks are made.

use std::convert::Infallible;

use rig_core::tool::{ErasedTool, PortableTool, ToolContext};
use schemars::schema_for;
use serde_json::Value;

use crate::tools::{self, Add, Batch, Bills, Hits, Search, Sum};

struct AddTool;

impl PortableTool for AddTool {
    const NAME: &'static str = "add";
    type Args = Add;
    type Output = Sum;
    type Error = Infallible;

    fn description(&self) -> String {
        "Adds two integers.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema_for!(Add).to_value()
    }

    async fn call(&self, Add { a, b }: Add) -> Result<Sum, Infallible> {
        Ok(tools::add(a, b))
    }
}

struct SearchTool;

impl PortableTool for SearchTool {
    const NAME: &'static str = "search";
    type Args = Search;
    type Output = Hits;
    type Error = Infallible;

    fn description(&self) -> String {
        "Searches.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema_for!(Search).to_value()
    }

    async fn call(&self, args: Search) -> Result<Hits, Infallible> {
        Ok(tools::search(args))
    }
}

struct BatchTool;

impl PortableTool for BatchTool {
    const NAME: &'static str = "batch";
    type Args = Batch;
    type Output = Bills;
    type Error = Infallible;

    fn description(&self) -> String {
        "Bills customers.".to_owned()
    }

    fn parameters(&self) -> Value {
        schema_for!(Batch).to_value()
    }

    async fn call(&self, args: Batch) -> Result<Bills, Infallible> {
        Ok(tools::batch(args))
    }
}

pub(crate) fn tool(name: &str) -> Box<dyn ErasedTool> {
    match name {
        "add" => Box::new(AddTool),
        "search" => Box::new(SearchTool),
        "batch" => Box::new(BatchTool),
        _ => panic!("no tool is called `{name}`"),
    }
}

pub(crate) async fn call(tool: &dyn ErasedTool, arguments: &[u8]) -> Vec<u8> {
    // It takes an owned string, which the response of a model already is; bytes have to be copied and validated as
    // UTF-8.
    let arguments = str::from_utf8(arguments).expect("JSON is text").to_owned();
    let result = tool.execute(arguments, &mut ToolContext::new()).await;
    assert!(result.is_success());
    result.output().render().into_bytes()
}
