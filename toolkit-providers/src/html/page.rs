//! The parameters of a page.

/// The parts of a page other than its tools.
///
/// ```
/// use toolkit_providers::html::Page;
///
/// let page = Page::new("Tools").program("tools");
/// assert_eq!(page.program, Some("tools"));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Page<'a> {
    /// The title of the page.
    pub title: &'a str,
    /// The program whose command line runs the tools, for an example of each call; `None` omits the examples.
    pub program: Option<&'a str>,
}

impl<'a> Page<'a> {
    /// Creates a page with a title, without command-line examples.
    #[must_use]
    pub const fn new(title: &'a str) -> Self {
        Self { title, program: None }
    }

    /// Sets the program whose command line runs the tools.
    #[must_use]
    pub const fn program(mut self, program: &'a str) -> Self {
        self.program = Some(program);
        self
    }
}
