use toolkit::tool;

/// Adds.
#[tool(namspace = "math")]
fn misspelled(a: i64) -> i64 { a }

/// Adds.
#[tool(colour = "red")]
fn unheard_of(a: i64) -> i64 { a }

/// Adds.
#[tool(read_only_hint = true, annotations(title = "Add"))]
fn of_rmcp(a: i64) -> i64 { a }

/// Adds.
#[tool(params(a = "A number."), input_schema = "add.json")]
fn of_others(a: i64) -> i64 { a }

fn main() {}
