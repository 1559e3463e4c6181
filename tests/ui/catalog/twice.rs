use toolkit::tool;

/// Adds.
#[tool(namespace = "math")]
fn add(a: i64) -> i64 { a }

mod other {
    /// Subtracts.
    #[toolkit::tool(namespace = "math")]
    pub fn sub(a: i64) -> i64 { a }
}

fn catalogue() {
    let _ = toolkit::catalog![add, other::sub, add];
}

fn main() {}
