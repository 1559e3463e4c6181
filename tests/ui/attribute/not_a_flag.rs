use toolkit::tool;

/// Adds.
#[tool(read_only = "yes", blocking(true))]
fn add(a: i64) -> i64 { a }

fn main() {}
