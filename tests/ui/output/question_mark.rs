use toolkit::{ToolError, tool};

/// Parses a flag.
#[tool]
fn parse(text: String) -> Result<bool, ToolError> {
    let flag = text.parse::<bool>()?;
    Ok(flag)
}

fn main() {}
