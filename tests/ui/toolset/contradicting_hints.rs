use toolkit::toolset;

struct Notebook;

#[toolset(read_only, destructive, name = "notes")]
impl Notebook {
    /// Counts.
    #[tool]
    fn count(&self) -> usize {
        0
    }
}

fn main() {}
