use toolkit::tool;

/// Adds.
#[tool(requires(secrets = "KEY", oauth2(scopes = ["a"])))]
fn add(a: i64) -> i64 { a }

/// Adds.
#[tool(requires = "KEY")]
fn plus(a: i64) -> i64 { a }

fn main() {}
