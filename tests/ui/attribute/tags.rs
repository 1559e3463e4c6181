use toolkit::tool;

/// Adds.
#[tool(tags = ["math", "!!!", "Math", "an-endless-tag-that-goes-on-and-on-and-on-and-on-and-on-and-on-and-on-and-on"])]
fn add(a: i64) -> i64 { a }

/// Adds.
#[tool(tags = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t", "u"])]
fn many(a: i64) -> i64 { a }

fn main() {}
