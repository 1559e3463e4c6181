//! A tool, a catalog and two calls.

use toolkit::{Catalog, Dispatcher, tool};

/// Adds two integers.
#[tool(namespace = "math", version = "1.0.0", read_only)]
fn add(
    /// First addend.
    a: i64,
    /// Second addend.
    b: i64,
) -> i64 {
    a + b
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;

    let sum = dispatcher.call_sync("math:add", r#"{"a": 1, "b": 2}"#)?;
    assert_eq!(sum.value(), 3);

    let error = dispatcher.call_sync("math:add", r#"{"a": "one"}"#).unwrap_err();
    for violation in error.violations() {
        println!("{violation}");
    }
    Ok(())
}
