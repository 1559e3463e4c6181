use toolkit::tool;

/// Adds.
#[tool(version = "1.0.0", version = "1.0.0")]
fn add(a: i64) -> i64 { a }

fn main() {}
