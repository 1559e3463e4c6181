use toolkit::tool;

#[tool]
fn add(a: i64) -> i64 { a }

///
#[tool]
fn blank(a: i64) -> i64 { a }

#[tool(description = " ")]
fn empty(a: i64) -> i64 { a }

fn main() {}
