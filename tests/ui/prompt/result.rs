use toolkit::{ToolError, prompt};

/// Returns a number.
#[prompt]
fn number() -> u32 {
    1
}

/// Returns a list of texts, or fails.
#[prompt]
fn texts(about: String) -> Result<Vec<String>, ToolError> {
    Ok(vec![about])
}

/// Returns nothing.
#[prompt]
async fn nothing() {}

fn main() {}
