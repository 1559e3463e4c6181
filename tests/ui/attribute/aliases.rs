use toolkit::tool;

/// Adds.
#[tool(aliases = ["a:b:c:d", "plus one"])]
fn add(a: i64) -> i64 { a }

fn main() {}
