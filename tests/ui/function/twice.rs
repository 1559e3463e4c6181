use toolkit::{tool, toolset};

/// Counts.
#[tool(name = "first")]
#[tool(name = "second")]
fn count() {}

struct Notebook;

#[toolset]
impl Notebook {
    /// Counts.
    #[tool(name = "third")]
    #[tool(name = "fourth")]
    fn count(&self) {}

    /// Counts.
    #[tool = "fifth"]
    fn other(&self) {}
}

fn main() {}
