use toolkit::toolset;

struct Notebook;

#[toolset]
impl Notebook {
    /// Counts.
    #[tool]
    fn by_value(self) -> usize { 0 }

    /// Counts.
    #[tool]
    fn mutable(&mut self) -> usize { 0 }
}

fn main() {}
