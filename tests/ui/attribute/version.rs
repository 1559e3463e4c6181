use toolkit::tool;

/// Adds.
#[tool(version = "1.2")]
fn short(a: i64) -> i64 { a }

/// Adds.
#[tool(version = "latest")]
fn word(a: i64) -> i64 { a }

fn main() {}
