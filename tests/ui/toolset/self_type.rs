use toolkit::toolset;

struct Notes;

#[toolset]
impl Notes {
    /// Copies all notes.
    #[tool]
    fn copied(&self) -> Self {
        Notes
    }

    /// Compares with other notes.
    #[tool]
    fn is_equal(&self, other: Self) -> bool {
        std::ptr::eq(self, &other)
    }
}

fn main() {}
