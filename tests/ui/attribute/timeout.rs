use toolkit::tool;

/// Adds.
#[tool(timeout = "soon")]
fn add(a: i64) -> i64 { a }

/// Adds.
#[tool(timeout = "0s")]
fn never(a: i64) -> i64 { a }

fn main() {}
