use toolkit::toolset;

struct Notebook<T>(T);

#[toolset]
impl<T> Notebook<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

struct Pages<T>(T);

#[toolset(namespace = "pages")]
#[concrete(Pages<u8>)]
#[concrete(Pages<u16>)]
#[concrete(Notebook<u8>, namespace = "other")]
#[concrete(namespace = "none")]
impl<T> Pages<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

struct Plain;

#[toolset]
#[concrete(Plain)]
impl Plain {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

struct Sized<const N: usize>;

#[toolset]
#[concrete(Sized<3>)]
impl<const N: usize> Sized<N> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { N }
}

struct Store<T>(T);

#[toolset]
#[concrete(Store<String>)]
impl<T: Copy> Store<T> {
    /// Counts.
    #[tool]
    fn count(&self) -> usize { 0 }
}

fn main() {}
