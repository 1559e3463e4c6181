use toolkit::tool;

/// Adds.
#[tool(namespace "math")]
fn add(a: i64) -> i64 { a }

fn still_there() -> i64 { add(1) }

fn main() {}
