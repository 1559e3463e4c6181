use toolkit::tool;

/// Adds.
#[tool(read_only, destructive)]
fn add(a: i64) -> i64 { a }

fn main() {}
