use toolkit::tool;

/// Adds.
#[tool]
unsafe fn add(a: i64) -> i64 { a }

fn main() {}
