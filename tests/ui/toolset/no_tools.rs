use toolkit::toolset;

struct Notebook;

#[toolset(namespace = "notes")]
impl Notebook {
    fn count(&self) -> usize { 0 }
}

fn main() {}
