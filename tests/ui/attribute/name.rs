use toolkit::tool;

/// Adds.
#[tool(name = "add numbers!", namespace = "")]
fn add(a: i64) -> i64 { a }

/// Adds.
#[tool]
fn größe(a: i64) -> i64 { a }

fn main() {}
