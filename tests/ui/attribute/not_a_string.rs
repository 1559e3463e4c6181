use toolkit::tool;

/// Adds.
#[tool(namespace = math, version = 1, title)]
fn add(a: i64) -> i64 { a }

fn main() {}
