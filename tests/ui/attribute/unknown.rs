use toolkit::tool;

/// Adds.
#[tool(namspace = "math")]
fn misspelled(a: i64) -> i64 { a }

/// Adds.
#[tool(colour = "red")]
fn unheard_of(a: i64) -> i64 { a }

fn main() {}
