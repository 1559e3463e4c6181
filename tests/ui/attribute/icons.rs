use toolkit::tool;

/// Adds.
#[tool(icons = [icon(mime = "image/png"), 3])]
fn add(a: i64) -> i64 { a }

fn main() {}
