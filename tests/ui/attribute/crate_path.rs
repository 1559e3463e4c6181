use toolkit::tool;

/// Adds.
#[tool(crate = "toolkit")]
fn add(a: i64) -> i64 { a }

fn main() {}
