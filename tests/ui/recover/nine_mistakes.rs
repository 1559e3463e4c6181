use toolkit::tool;

struct Query { city: String }

/// Adds.
#[tool(namspace = "math", version = "1.2", read_only, destructive)]
fn add(a: i64) -> i64 { a }

#[tool]
fn undocumented(city: &mut String) -> String { city.clone() }

/// Echoes.
#[tool(tags = ["!"])]
fn echo<T: Clone>(value: T, Query { city }: Query) -> impl Clone { drop(value); city }

/// Waits.
#[tool(timeout = "soon")]
fn wait() {}

fn still_there() -> i64 {
    undocumented(&mut String::new());
    add(1)
}

fn main() {}
