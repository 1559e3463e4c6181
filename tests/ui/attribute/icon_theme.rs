use toolkit::tool;

/// Adds.
#[tool(icons = [icon(src = "https://example.com/a.png", theme = "blue")])]
fn add(a: i64) -> i64 { a }

fn main() {}
