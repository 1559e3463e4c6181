/// Adds.
#[toolkit::tool]
fn add(a: i64, b: i64) -> i64 { a + b }

toolkit::catalog![add];

toolkit::handle!(add);

fn main() {}
