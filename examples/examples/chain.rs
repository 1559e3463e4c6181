//! A chain: several calls as data, in which results of earlier steps are arguments of later ones.

use toolkit::{Catalog, Context, Dispatcher, tool};
use toolkit_backends::Chain;

/// Adds two integers.
#[tool(namespace = "math")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let dispatcher = Dispatcher::new(Catalog::linked()?)?;
    let chain = Chain::from_json(
        r#"[
            {"id": "sum", "toolId": "math:add", "args": {"a": 1, "b": 2}},
            {"toolId": "math:add", "args": {"a": 10}, "from": {"b": {"step": "sum"}}}
        ]"#,
    )?;

    // Runs no step unless every reference and every constant argument fits the schemas.
    let outcome = chain.run_sync(&dispatcher, &Context::new())?;
    for step in outcome.steps() {
        println!("{}", step.value());
    }
    assert_eq!(outcome.into_result()?.map(|result| result.value()), Some(13.into()));
    Ok(())
}
