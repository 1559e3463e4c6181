use toolkit::{handle, tool};
use toolkit_backends::chain::Link as _;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 { a + b }

/// Shouts.
#[tool]
fn shout(text: String) -> String { text.to_uppercase() }

fn main() {
    let _ = handle!(add).then(handle!(shout));
    let _ = handle!(add).then_map(|sum| sum, handle!(shout));
    let _ = handle!(shout).then(handle!(add));
}
