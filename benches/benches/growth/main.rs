//! Cost of work as it grows: `cargo bench -p toolkit-benches --bench growth`, or with `-- --quick` as a smoke test.
//!
//! Work grows with the bytes of a payload, the tools of a catalog, the calls in flight, the steps of a chain and the layers
//! around a call. Each is measured with two payloads or two kinds of tools, so that a figure does not depend on one.

mod calls;
mod catalog;
mod chain;
mod corpus;
mod layers;
mod payload;
mod table;
#[path = "../dispatch/tools.rs"]
#[expect(dead_code, reason = "`batch` and rejected calls are measured in `dispatch`")]
mod tools;
#[path = "../../search/src/words.rs"]
mod words;

use std::error::Error;

use serde::Serialize;
use serde::de::DeserializeOwned;
use toolkit_benches::allocations::Counting;
use toolkit_plot::results::Recorder;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn main() -> Result<(), Box<dyn Error>> {
    let is_quick = std::env::args().any(|argument| argument == "--quick");
    let sizes = |sizes: &'static [usize]| if is_quick { &sizes[..2] } else { sizes };
    let mut run = Recorder::new("cargo bench -p toolkit-benches --bench growth");
    let recorder = &mut run;
    // Large payloads and catalogs come last: they leave a heap in which small allocations take longer.
    layers::measure(recorder, sizes(&[0, 1, 2, 4, 8]));
    chain::measure(recorder, sizes(&[1, 16, 256]));
    calls::measure(recorder, sizes(&[1, 10, 100, 1_000, 10_000]));
    payload::measure(recorder, sizes(&[1_000, 10_000, 100_000, 1_000_000, 10_000_000]));
    catalog::measure(recorder, sizes(&[10, 100, 1_000, 10_000, 100_000]))?;
    run.finish()?;
    Ok(())
}

/// The work that no library can avoid: serde, the function, and serde.
fn floor<In: DeserializeOwned, Out: Serialize>(arguments: &[u8], tool: fn(In) -> Out) -> Vec<u8> {
    let arguments = serde_json::from_slice(arguments).expect("valid");
    serde_json::to_vec(&tool(arguments)).expect("a result is JSON")
}
