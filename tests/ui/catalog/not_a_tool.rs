mod math {
    use toolkit::tool;

    /// Adds.
    #[tool]
    pub fn add(a: i64, b: i64) -> i64 { a + b }

    pub fn plain() {}
}

use math::add;

struct Notebook;

#[toolkit::toolset]
impl Notebook {
    /// Appends.
    #[tool]
    pub fn append(text: String) { drop(text) }

    pub fn plain() {}
}

fn plain() { let _ = add(1, 2); }

fn main() {
    let _ = toolkit::catalog![math::ad, math::plain, plain, plan, add, Notebook::append, Notebook::appendd];
    let _ = toolkit::catalog![Notebook::plain];
    let _ = toolkit::handle!(math::ad);
    let _ = toolkit::handle!(plain);
    let _ = toolkit::handle!(Notebook::plain);
}
