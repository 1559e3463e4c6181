use toolkit::tool;

/// Adds.
#[tool(namespace = "math", name = "add")]
fn first(a: i64) -> i64 { a }

/// Adds.
#[tool(namespace = "math", name = "add")]
fn second(a: i64) -> i64 { a }

fn main() {}
