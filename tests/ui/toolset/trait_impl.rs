use toolkit::toolset;

struct Notebook;
trait Count { fn count(&self) -> usize; }

#[toolset]
impl Count for Notebook {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

fn main() {}
