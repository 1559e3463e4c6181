use toolkit::tool;

struct Notebook;

impl Notebook {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

fn still_there(notebook: &Notebook) -> usize { notebook.count() }

fn main() {}
