use toolkit::{Chunks, tool};

struct Line(String);

/// Gives what no schema can be derived from.
#[tool]
fn lines() -> Chunks<Line> {
    Chunks::from_items([])
}

/// Gives items after it has returned, and says that it blocks until then.
#[tool(blocking)]
fn numbers() -> Chunks<u8> {
    Chunks::from_items([1])
}

fn main() {}
