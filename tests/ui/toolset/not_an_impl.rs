use toolkit::toolset;

#[toolset]
fn add(a: i64) -> i64 { a }

#[toolset(name = "x")]
struct Notebook;

fn main() {}
