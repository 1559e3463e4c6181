use toolkit::tool;

/// Adds.
#[tool("math")]
fn add(a: i64) -> i64 {
    a
}

fn main() {}
