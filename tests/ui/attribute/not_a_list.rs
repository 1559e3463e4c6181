use toolkit::tool;

/// Adds.
#[tool(tags = "math", examples = [1], icons = "a.png")]
fn add(a: i64) -> i64 { a }

fn main() {}
