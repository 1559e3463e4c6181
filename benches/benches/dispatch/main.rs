//! Cost of a call from bytes to bytes, compared to serde alone and to other libraries.
//!
//! The floor is the work that no library can avoid: deserializing the arguments with serde, the function, and
//! serializing the result. Rows with more work (from the `params` of a protocol to its result) or less work are named
//! accordingly.

#[cfg(feature = "rig")]
mod by_rig;
mod by_rmcp;
mod by_rust_mcp_sdk;
mod by_tools_rs;
mod growth;
mod mcp;
mod names;
mod tools;

use std::hint::black_box;

use jsonschema::Validator;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::runtime::Runtime;
use toolkit::{Catalog, Dispatcher, handle};
use toolkit_benches::allocations::Counting;
use toolkit_benches::measure::Table;
use toolkit_plot::results::Recorder;

use self::by_rmcp::Rmcp;
use self::tools::{Add, Batch, Search};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> std::io::Result<()> {
    let mut run = Recorder::new("cargo bench -p toolkit-benches --bench dispatch");
    let recorder = &mut run;
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime starts");
    let bench = Bench {
        dispatcher: Dispatcher::new(Catalog::linked().expect("the names differ")).expect("no state is needed"),
        rmcp: Rmcp::new(&runtime),
        tools_rs: tools_rs::collect_tools(),
        runtime,
    };
    bench.compare(recorder, "add", tools::ADD, |Add { a, b }| tools::add(a, b));
    bench.compare(recorder, "search", tools::SEARCH, |args: Search| tools::search(args));
    bench.compare(recorder, "batch", &tools::rows(500), |args: Batch| tools::batch(args));
    bench.typed(recorder);
    bench.refused(recorder);
    names::measure(recorder);
    bench.growth(recorder);
    run.finish()
}

struct Bench {
    dispatcher: Dispatcher,
    rmcp: Rmcp,
    tools_rs: tools_rs::ToolCollection,
    runtime: Runtime,
}

impl Bench {
    fn compare<In: DeserializeOwned, Out: Serialize>(
        &self,
        recorder: &mut Recorder,
        name: &str,
        arguments: &[u8],
        tool: fn(In) -> Out,
    ) {
        let Self { dispatcher, rmcp, tools_rs, runtime } = self;
        let name_async = format!("{name}_async");
        let params = mcp::params(name, arguments);
        let tree = Tree::of(dispatcher, name);
        #[cfg(feature = "rig")]
        let rig = by_rig::tool(name);
        let expected = floor(arguments, tool);
        println!("`{name}`: {} bytes in, {} bytes out\n", arguments.len(), expected.len());
        assert_eq!(expected, call_sync(dispatcher, name, arguments));
        let data = value(&expected);
        assert!(data == value(&tree.call(arguments, tool)));
        assert!(data == value(&runtime.block_on(call(dispatcher, &name_async, arguments))));
        assert!(data == value(&runtime.block_on(by_tools_rs::call(tools_rs, name, arguments))));
        #[cfg(feature = "rig")]
        assert!(data == value(&runtime.block_on(by_rig::call(&*rig, arguments))));
        assert!(says(&runtime.block_on(mcp::call(dispatcher, &params)), &data));
        assert!(says(&runtime.block_on(rmcp.call(&params)), &data));
        assert!(says(&by_rust_mcp_sdk::call(&params), &data));

        let prepared = dispatcher.prepared(name).expect("it is linked");
        let mut table = Table::new(name);
        table.row("floor: serde, function, serde", "nothing", || floor(black_box(arguments), tool));
        table.row("`Prepared::call_sync`, resolved before", "in and out", || {
            prepared.call_sync(black_box(arguments)).expect("it succeeds").into_json()
        });
        table.row("`Dispatcher::call_sync`", "in and out", || call_sync(dispatcher, name, black_box(arguments)));
        table.row_async("`Dispatcher::call`, sync function", "in and out", runtime, async || {
            call(dispatcher, name, black_box(arguments)).await
        });
        table.row_async("`Dispatcher::call`, async function", "in and out", runtime, async || {
            call(dispatcher, &name_async, black_box(arguments)).await
        });
        table.row("tree and jsonschema", "in and out", || tree.call(black_box(arguments), tool));
        table.row_async("tools-rs 0.3.3: no envelope", "nothing", runtime, async || {
            by_tools_rs::call(tools_rs, name, black_box(arguments)).await
        });
        #[cfg(feature = "rig")]
        table.row_async("rig-core 0.44.0 `execute`: no envelope, no look-up", "nothing", runtime, async || {
            by_rig::call(&*rig, black_box(arguments)).await
        });
        table.row_async("MCP `params` to result: `Dispatcher::call`", "in and out", runtime, async || {
            mcp::call(dispatcher, black_box(&params)).await
        });
        table.row_async("MCP `params` to result: rmcp 3.11.0 `ToolRouter`", "nothing", runtime, async || {
            rmcp.call(black_box(&params)).await
        });
        table.row("MCP `params` to result: rust-mcp-sdk 2.0.0 `tool_box!`", "nothing", || {
            by_rust_mcp_sdk::call(black_box(&params))
        });
        table.measure().report(recorder);
    }

    /// Measures a call with Rust types, compared to the same call with JSON.
    fn typed(&self, recorder: &mut Recorder) {
        let Self { dispatcher, runtime, .. } = self;
        let (add, add_async) = (handle!(tools::add), handle!(tools::add_async));
        let mut table = Table::new("a typed call of `add`");
        table.row_async("`Dispatcher::call`, JSON in and out", "in and out", runtime, async || {
            call(dispatcher, "add", black_box(tools::ADD)).await
        });
        table.row_async("`handle!`, sync function", "by rustc", runtime, async || {
            add.call(dispatcher, black_box((17, 25))).await.expect("it succeeds")
        });
        table.row_async("`handle!`, async function", "by rustc", runtime, async || {
            add_async.call(dispatcher, black_box((17, 25))).await.expect("it succeeds")
        });
        table.measure().report(recorder);
    }

    /// Measures calls that are rejected with all of their violations.
    fn refused(&self, recorder: &mut Recorder) {
        let Self { dispatcher, .. } = self;
        let tree = Tree::of(dispatcher, "search");
        let refuse = |arguments: &[u8]| dispatcher.call_sync("search", arguments).expect_err("it is rejected");
        for arguments in [tools::REFUSED_ONCE, tools::REFUSED_FOUR_TIMES, tools::REFUSED] {
            let n_errors = tree.errors(arguments).len();
            assert_eq!(n_errors, refuse(arguments).violations().len());
            let plural = if n_errors == 1 { "" } else { "s" };
            let mut table = Table::new(format!("`search` rejected, {n_errors} error{plural}"));
            table.row("tree and `iter_errors`, to text", "in", || tree.errors(black_box(arguments)));
            table.row("`Dispatcher::call_sync`", "in", || refuse(black_box(arguments)));
            table.measure().report(recorder);
        }
    }
}

fn floor<In: DeserializeOwned, Out: Serialize>(arguments: &[u8], tool: fn(In) -> Out) -> Vec<u8> {
    let arguments = serde_json::from_slice(arguments).expect("valid");
    serde_json::to_vec(&tool(arguments)).expect("a result is JSON")
}

fn call_sync(dispatcher: &Dispatcher, name: &str, arguments: &[u8]) -> Vec<u8> {
    dispatcher.call_sync(name, arguments).expect("it succeeds").into_json()
}

async fn call(dispatcher: &Dispatcher, name: &str, arguments: &[u8]) -> Vec<u8> {
    dispatcher.call(name, arguments).await.expect("it succeeds").into_json()
}

fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).expect("valid")
}

/// Returns true if the result of a protocol is a success with this data, as structured content and as text.
fn says(result: &[u8], expected: &Value) -> bool {
    let result = value(result);
    let text = result["content"][0]["text"].as_str().expect("it has a text");
    result["isError"] != true && result["structuredContent"] == *expected && value(text.as_bytes()) == *expected
}

/// Checks in the usual way: a tree of each side, and a compiled schema that walks it.
struct Tree {
    input: Validator,
    output: Validator,
}

impl Tree {
    fn of(dispatcher: &Dispatcher, name: &str) -> Self {
        let tool = dispatcher.catalog().get(name).expect("it is linked");
        let compiled = |schema: &Value| jsonschema::validator_for(schema).expect("the schema is valid");
        let output = tool.output().expect("it promises a result");
        Self { input: compiled(tool.input().as_value()), output: compiled(output.as_value()) }
    }

    fn call<In: DeserializeOwned, Out: Serialize>(&self, arguments: &[u8], tool: fn(In) -> Out) -> Vec<u8> {
        let arguments = value(arguments);
        assert!(self.input.is_valid(&arguments));
        let arguments = serde_json::from_value(arguments).expect("valid");
        let result = serde_json::to_value(tool(arguments)).expect("a result is JSON");
        assert!(self.output.is_valid(&result));
        serde_json::to_vec(&result).expect("a result is JSON")
    }

    fn errors(&self, arguments: &[u8]) -> Vec<String> {
        let arguments = value(arguments);
        let errors = self.input.iter_errors(&arguments);
        errors.map(|error| format!("{}: {error}", error.instance_path())).collect()
    }
}
