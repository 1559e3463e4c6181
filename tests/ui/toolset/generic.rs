use toolkit::toolset;

struct Notebook<T>(T);

#[toolset]
impl<T> Notebook<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

fn main() {}
