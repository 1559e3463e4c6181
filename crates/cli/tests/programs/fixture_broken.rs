//! A program whose catalogue has problems that only `check` can see; the tests of the command line run it.

use std::process::ExitCode;

use toolkit::tool;

fn main() -> ExitCode {
    toolkit_cli::main()
}

struct Db;

/// Requires state that no host of this program provides.
#[tool(namespace = "a", version = "1.0.0")]
fn query(_db: &Db) {}

/// Has the name of another tool.
#[tool(name = "query", namespace = "b", version = "1.0.0", examples = [r#"{ "n": 300 }"#])]
fn other_query(n: u8) -> u8 {
    n
}
